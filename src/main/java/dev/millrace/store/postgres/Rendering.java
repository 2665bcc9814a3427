package dev.millrace.store.postgres;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jooq.Configuration;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DefaultConfiguration;

/** How statements to one schema become text, and those texts that are kept: see {@link Shape}. Safe for use by many threads. */
final class Rendering {
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
        return Objects.requireNonNull((Rendering) configuration.data(Rendering.class), "not one of ours");
    }

    String schema() {
        return schema;
    }

    /** Without a connection. */
    Configuration configuration() {
        return configuration;
    }

    /** The text of a shape, rendered if it never was. There are as many as shapes in the code. */
    Shape.Text text(Shape shape) {
        Shape.Text text = texts.get(shape);
        if (text == null) {
            text = shape.render(configuration); // in no lock; several threads may come to the same
            texts.put(shape, text);
        }
        return text;
    }
}
