package dev.millrace.store.postgres;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jooq.Configuration;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DefaultConfiguration;

/** How statements to one schema become text, and those texts that are kept: see {@link Shape}. Safe for use by many threads. */
final class Rendering {
    /** Shapes are few; whoever brings ever other ones has them rendered again. */
    private static final int MOST = 1_000;

    private final String schema;
    private final Configuration configuration;
    private final Map<Shape, Shape.Text> texts = new ConcurrentHashMap<>();

    /** @param schema the name of the schema, which is put in when a statement is rendered */
    Rendering(String schema) {
        this.schema = schema;
        this.configuration = new DefaultConfiguration()
                .set(SQLDialect.POSTGRES)
                .set(new Privileges(schema))
                .set(new Settings()
                        .withRenderCatalog(false)
                        .withExecuteLogging(false)
                        .withRenderMapping(new RenderMapping()
                                .withSchemata(
                                        new MappedSchema().withInput("millrace").withOutput(schema))));
        configuration.data(Rendering.class, this);
    }

    /** Of the statements of this configuration, which is derived from {@link #configuration}. */
    static Rendering of(Configuration configuration) {
        return (Rendering) configuration.data(Rendering.class);
    }

    String schema() {
        return schema;
    }

    /** Without a connection. */
    Configuration configuration() {
        return configuration;
    }

    /** How many texts are kept. */
    int kept() {
        return texts.size();
    }

    /** The text of a shape, rendered if it never was. */
    Shape.Text text(Shape shape, Supplier<Shape.Text> rendered) {
        Shape.Text text = texts.get(shape);
        if (text == null) {
            text = rendered.get();
            if (texts.size() >= MOST) {
                texts.clear();
            }
            texts.put(shape, text);
        }
        return text;
    }
}
