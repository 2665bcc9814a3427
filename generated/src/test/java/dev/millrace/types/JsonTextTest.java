package dev.millrace.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTextTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                "null",
                "true",
                "-0",
                "1.00",
                "1e400",
                "\"\"",
                " { \"b\" : [1, 2 , {} ] , \"a\":null}\n",
                "\"\\u0000\"",
                "\"\\ud83d\\ude80\"",
                "\"\uD83D\uDE80\"",
                "123456789012345678901234567890.1234567890"
            })
    void of_keepsTheTextAsItIs(String text) {
        assertThat(JsonText.of(text).text()).isEqualTo(text);
        assertThat(JsonText.of(text)).hasToString(text);
    }

    @Test
    void equality_isThatOfTheTexts() {
        assertThat(JsonText.of("{}")).isEqualTo(JsonText.of("{}")).hasSameHashCodeAs(JsonText.of("{}"));
        assertThat(JsonText.of("{}")).isNotEqualTo(JsonText.of("{ }"));
        assertThat(JsonText.of("1.0")).isNotEqualTo(JsonText.of("1.00"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "[1",
                "\"a",
                "{\"a\"}",
                "{\"a\":}",
                "{a:1}",
                "{'a':1}",
                "[1,]",
                "[1 2]",
                "{} {}",
                "1 2",
                "{}x",
                "1x",
                "tru",
                "NaN",
                "+1",
                "01",
                "1.",
                ".5",
                "\"\\x\"",
                "\"\\u00g0\"",
                "\"\t\"",
                "\"\u0000\"",
                "\u0000",
                "[1]]",
                "/**/1",
                "\uFEFF{}"
            })
    void of_whatIsNotOneWellFormedValue_isRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JsonText.of(text))
                .withMessageContaining("one well-formed JSON value")
                .withMessageContaining("it has " + text.length() + " characters");
    }

    @Test
    void of_malformedText_saysWhereWithoutQuotingIt() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JsonText.of("{\n  \"password\": secret\n}"))
                .withMessageContaining("line 2, column 15")
                .withNoCause()
                .satisfies(
                        e -> assertThat(e.getMessage()).doesNotContain("secret").doesNotContain("password"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"\uD83D\"", "\"\uDE80\"", "\"\uDE80\uD83D\"", "{\"\uD83D\":1}", "\uD83D"})
    void of_loneSurrogate_isRefusedWithItsOffset(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JsonText.of(text))
                .withMessageContaining("lone surrogate at offset " + firstSurrogate(text));
    }

    @Test
    void of_nestingBeyondTheLimit_isRefused() {
        assertThat(JsonText.of("[".repeat(1_000) + "]".repeat(1_000)).text()).hasSize(2_000);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JsonText.of("[".repeat(1_001) + "]".repeat(1_001)))
                .withMessageContaining("beyond a limit");
    }

    private static int firstSurrogate(String text) {
        int i = 0;
        while (!Character.isSurrogate(text.charAt(i))) {
            i++;
        }
        return i;
    }
}
