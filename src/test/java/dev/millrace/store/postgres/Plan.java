package dev.millrace.store.postgres;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** How the server carried out one statement, as its EXPLAIN says. */
record Plan(JsonNode json) {
    private static final String LOOKUP_KEYS = "idx_execution_jobs_lookup_keys";

    String text() {
        return json.path("Query Text").asText();
    }

    /** What the gate asks of the controls, once in a while, and the driver of the types, is not the operation's. */
    boolean isTheOperations() {
        return !text().contains("to_regclass")
                && !text().contains("'schema.version'")
                && !text().contains("pg_catalog.pg_type");
    }

    long buffers() {
        return root().path("Shared Hit Blocks").asLong()
                + root().path("Shared Read Blocks").asLong();
    }

    long wal() {
        return root().path("WAL Bytes").asLong();
    }

    /** How many rows it returned. PostgreSQL 18 says so in decimals. */
    long rows() {
        return Math.round(root().path("Actual Rows").asDouble());
    }

    private JsonNode root() {
        return json.path("Plan");
    }

    /** Its nodes, each below the one that it feeds. */
    List<String> nodes() {
        List<String> lines = new ArrayList<>();
        describe(root(), 0, lines);
        return lines;
    }

    private static void describe(JsonNode node, int depth, List<String> lines) {
        StringBuilder line = new StringBuilder("  ".repeat(depth))
                .append(node.path("Node Type").asText());
        if (node.path("Node Type").asText().equals("ModifyTable")) {
            line.append(' ').append(node.path("Operation").asText());
        }
        for (String what : List.of("Index Name", "Relation Name", "CTE Name")) {
            if (node.has(what)) {
                line.append(' ').append(node.path(what).asText());
                break;
            }
        }
        lines.add(line.toString());
        node.path("Plans").forEach(child -> describe(child, depth + 1, lines));
    }

    /** What a plan must not do, each as a sentence; empty if all is well. */
    List<String> offences(long mostSorted) {
        List<String> offences = new ArrayList<>();
        visit(root(), node -> {
            String type = node.path("Node Type").asText();
            // The controls are a page of a few rows, and an index of them is another page.
            if (type.equals("Seq Scan") && !node.path("Relation Name").asText().equals("controls")) {
                offences.add("reads all of " + node.path("Relation Name").asText());
            }
            if (type.endsWith("Sort") && !usesKeys(node)) {
                long sorted = 0;
                for (JsonNode child : node.path("Plans")) {
                    sorted = Math.max(
                            sorted, Math.round(child.path("Actual Rows").asDouble()));
                }
                if (sorted > mostSorted) {
                    offences.add("sorts " + sorted + " rows where " + mostSorted + " were asked for");
                }
            }
        });
        return offences;
    }

    private static boolean usesKeys(JsonNode node) {
        if (node.path("Index Name").asText().equals(LOOKUP_KEYS)) {
            return true;
        }
        for (JsonNode child : node.path("Plans")) {
            if (usesKeys(child)) {
                return true;
            }
        }
        return false;
    }

    private static void visit(JsonNode node, Consumer<JsonNode> visitor) {
        visitor.accept(node);
        node.path("Plans").forEach(child -> visit(child, visitor));
    }
}
