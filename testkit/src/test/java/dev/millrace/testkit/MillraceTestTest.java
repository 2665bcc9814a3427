package dev.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.Millrace;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.JobType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** What JUnit hands to a class with the annotation. */
@MillraceTest
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MillraceTestTest {
    record Work(String what) {}

    private static final JobType<Work> WORK = JobType.of("work", Work.class);

    private static TestKit ofClass;

    private final TestKit ofConstructor;

    MillraceTestTest(TestKit ofConstructor) {
        this.ofConstructor = ofConstructor;
    }

    @BeforeAll
    static void ofClass(TestKit kit, Millrace millrace) {
        ofClass = kit;
        millrace.submit(WORK, new Work("before all"));
    }

    @BeforeEach
    void submit(Millrace millrace) {
        millrace.submit(WORK, new Work("before each"));
    }

    @Test
    @Order(1)
    void kit_isTheSameWithinATest_andSeesWhatItsOwnBeforeEachSubmitted(TestKit kit) {
        assertThat(kit).isSameAs(ofConstructor).isNotSameAs(ofClass);
        assertThat(kit.assertSubmitted(WORK).payload()).isEqualTo(new Work("before each"));
    }

    @Test
    @Order(2)
    void kit_ofTheNextTest_doesNotSeeThat(TestKit kit) {
        assertThat(kit).isSameAs(ofConstructor);
        kit.assertSubmitted(WORK).once();
        ofClass.assertSubmitted(WORK).times(3);
    }

    @Test
    @Order(3)
    void millrace_isOnTheDatabaseOfTheClass(Millrace millrace, TestDatabase database) {
        assertThat(millrace.schema()).isEqualTo(database.schema());
        assertThat(millrace.dataSource()).isSameAs(database.dataSource());
    }

    @Nested
    class Inner {
        @Test
        void nestedClass_sharesIt(TestKit kit, Millrace millrace, TestDatabase database) {
            assertThat(millrace.dataSource()).isSameAs(database.dataSource());
            assertThat(kit.assertSubmitted(WORK).once().payload()).isEqualTo(new Work("before each"));
        }
    }
}
