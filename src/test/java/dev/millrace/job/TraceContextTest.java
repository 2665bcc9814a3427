package dev.millrace.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceContextTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String SPAN = "00f067aa0ba902b7";
    private static final String PARENT = "00-" + TRACE + "-" + SPAN + "-01";

    @Test
    void traceparent_ofTheSpecification_isTakenApart() {
        TraceContext context = TraceContext.of(PARENT);
        assertThat(context.traceId()).isEqualTo(TRACE);
        assertThat(context.spanId()).isEqualTo(SPAN);
        assertThat(context.tracestate()).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff",
                "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like",
                "01-00000000000000000000000000000001-0000000000000001-00-",
            })
    void traceparent_thatIsOne_isTaken(String text) {
        assertThat(TraceContext.of(text).traceparent()).isEqualTo(text);
        assertThat(TraceContext.ifValid(text, null)).contains(TraceContext.of(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "00",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
                "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
                "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
                "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
                "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n",
                " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            })
    void traceparent_thatIsNone_isRefused(String text) {
        assertThat(TraceContext.ifValid(text, null)).isEmpty();
        assertThatThrownBy(() -> TraceContext.of(text))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("traceparent");
    }

    @Test
    void traceparent_thatIsTooLong_isRefused() {
        String longest = "cc" + PARENT.substring(2) + "-" + "x".repeat(512 - PARENT.length() - 1);
        assertThat(TraceContext.of(longest).traceparent()).hasSize(512);
        assertThatThrownBy(() -> TraceContext.of(longest + "x")).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> TraceContext.of(null)).isInstanceOf(InvalidJobException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rojo=00f067aa0ba902b7",
                "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
                "rojo=1 , congo=2",
                "rojo=1,,congo=2",
                "fw529a3039@dt=FfffffffC;x",
                "a-b_c*d/e=~!",
                "1tenant@system=x",
            })
    void tracestate_thatIsOne_isTaken(String text) {
        assertThat(new TraceContext(PARENT, text).tracestate()).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ",",
                "rojo",
                "rojo=",
                "=1",
                "Rojo=1",
                "1rojo=1",
                "rojo=1=2",
                "rojo=1,rojo=2",
                "rojo=\u00e4",
                "a@toolongasystemname=1",
            })
    void tracestate_thatIsNone_isRefused_orLeftOut(String text) {
        assertThatThrownBy(() -> new TraceContext(PARENT, text))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("tracestate");
        assertThat(TraceContext.ifValid(PARENT, text)).contains(TraceContext.of(PARENT));
    }

    @Test
    void tracestate_ofTooManyMembersOrCharacters_isRefused() {
        assertThat(new TraceContext(PARENT, members(32)).tracestate()).isNotNull();
        assertThatThrownBy(() -> new TraceContext(PARENT, members(33))).isInstanceOf(InvalidJobException.class);
        String longest = "a=" + "x".repeat(256) + ",b=" + "x".repeat(251);
        assertThat(new TraceContext(PARENT, longest).tracestate()).hasSize(512);
        assertThatThrownBy(() -> new TraceContext(PARENT, longest + "x")).isInstanceOf(InvalidJobException.class);
    }

    private static String members(int number) {
        return IntStream.range(0, number).mapToObj(i -> "k" + i + "=v").collect(Collectors.joining(","));
    }
}
