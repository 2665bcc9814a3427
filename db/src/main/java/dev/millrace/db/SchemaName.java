package dev.millrace.db;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The name of a schema, checked. It is taken as it is: {@code Jobs} and {@code jobs} are two schemas. */
record SchemaName(String value) {

    /** PostgreSQL silently cuts longer identifiers, so that two names could become one. */
    static final int MAX_BYTES = 63;

    SchemaName {
        Objects.requireNonNull(value, "schema");
        if (value.isEmpty()) {
            throw new InvalidSchemaNameException(value, "is empty");
        }
        int bytes = lengthInUtf8(value);
        if (bytes > MAX_BYTES) {
            throw new InvalidSchemaNameException(value, "has " + bytes + " bytes");
        }
        if (value.indexOf('\0') >= 0) {
            throw new InvalidSchemaNameException(value, "contains a NUL character");
        }
        refuse(value, value.contains("\""), "contains a double quote");
        refuse(value, value.contains("${"), "contains \"${\", which starts a placeholder in migrations");
        refuse(value, value.startsWith("pg_"), "starts with pg_");
        refuse(value, value.equals("information_schema"), "belongs to PostgreSQL");
    }

    private static void refuse(String name, boolean wrong, String found) {
        if (wrong) {
            throw new InvalidSchemaNameException(name, "\"" + name + "\" " + found);
        }
    }

    private static int lengthInUtf8(String name) {
        try {
            return StandardCharsets.UTF_8
                    .newEncoder()
                    .encode(CharBuffer.wrap(name))
                    .remaining();
        } catch (CharacterCodingException e) {
            throw new InvalidSchemaNameException(name, "contains half of a surrogate pair");
        }
    }

    /** The name as SQL has it. */
    String quoted() {
        return Identifiers.quoted(value);
    }
}
