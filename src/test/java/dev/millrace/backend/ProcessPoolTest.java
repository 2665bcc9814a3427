package dev.millrace.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.Millrace;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.LogLine;
import dev.millrace.types.JsonText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Real executables, and what becomes of them. */
@MillraceDatabase
@EnabledOnOs({OS.LINUX, OS.MAC})
class ProcessPoolTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final JobLogStore logs;
    private final List<ProcessPool> open = new ArrayList<>();
    private final List<RemoteOperation> started = new ArrayList<>();

    @TempDir
    Path folder;

    ProcessPoolTest(TestDatabase database) {
        this.logs =
                Millrace.on(database.dataSource()).withSchema(database.schema()).logs();
    }

    @AfterEach
    void end() throws IOException {
        open.forEach(ProcessPool::close);
        // What a failed test has left running.
        for (RemoteOperation operation : started) {
            if (Files.exists(file(operation, "pid")) && !Files.exists(file(operation, "exit"))) {
                OperationFolder left =
                        OperationFolder.open(file(operation, "pid").getParent());
                left.process().ifPresent(wrapper -> {
                    wrapper.descendants().forEach(ProcessHandle::destroyForcibly);
                    wrapper.destroyForcibly();
                });
            }
        }
    }

    private ProcessPoolBuilder pool() {
        return ProcessPool.in(folder.resolve("state")).logs(logs);
    }

    private ProcessPool open(ProcessPoolBuilder builder) {
        ProcessPool pool = builder.open();
        open.add(pool);
        return pool;
    }

    /** A pool with one program, of the kind {@code k}. */
    private ProcessPool running(String... script) throws IOException {
        return open(pool().run("k", program(script)));
    }

    private Path program(String... lines) throws IOException {
        Path file = folder.resolve("program-" + UUID.randomUUID());
        Files.writeString(file, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return file;
    }

    private static StartRequest request(String kind, String parameters) {
        Job job = Job.of("job-" + UUID.randomUUID(), JobSpec.of(kind, JsonText.of(parameters)), Instant.EPOCH);
        return new StartRequest(job, 1, UUID.randomUUID());
    }

    private static StartRequest request() {
        return request("k", "{}");
    }

    private RemoteOperation start(ProcessPool pool, StartRequest request) throws IOException {
        StartResult.Started answer = (StartResult.Started) pool.start(request);
        RemoteOperation operation = request.operation().withOperationId(answer.operationId());
        started.add(operation);
        return operation;
    }

    private static Observation awaitEnd(ProcessPool pool, RemoteOperation operation) {
        return await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> pool.observe(operation), Observation::hasEnded);
    }

    private Path file(RemoteOperation operation, String name) {
        return folder.resolve("state").resolve(operation.token().toString()).resolve(name);
    }

    private void awaitFile(RemoteOperation operation, String name) {
        await().atMost(PATIENCE).until(() -> Files.exists(file(operation, name)));
    }

    private List<String> lines(RemoteOperation operation, String stream) {
        return logs.page(operation.jobId(), null, JobLogStore.MAX_PAGE).lines().stream()
                .filter(line -> stream.equals(line.fields().get("stream")))
                .map(LogLine::message)
                .toList();
    }

    @Test
    void process_getsItsParametersAndJob_andLeavesItsResult() throws IOException {
        ProcessPool pool = running(
                "cp \"$MILLRACE_PARAMETERS_FILE\" copy.json", // the working folder is its own
                "echo \"$# $1 $MILLRACE_JOB_KIND $MILLRACE_ATTEMPT $MILLRACE_JOB_ID\" >&2",
                "cat >\"$MILLRACE_RESULT_FILE\"");
        StartRequest request = request("k", "{\"a\": \"x y\"}");
        RemoteOperation operation = start(pool, request);
        assertThat(awaitEnd(pool, operation))
                .isEqualTo(new Observation.Succeeded(JsonText.of("{\"a\": \"x y\"}"), List.of()));
        assertThat(file(operation, "work/copy.json")).hasContent("{\"a\": \"x y\"}");
        assertThat(lines(operation, "stderr")).containsExactly("0  k 1 " + operation.jobId());
    }

    @Test
    void arguments_areNeverLookedIntoByAShell() throws IOException {
        ProcessPool pool =
                open(pool().run("k", program("printf '%s\\n' \"$@\""), "a b", "$HOME; `id`", "*", "", "\"'"));
        RemoteOperation operation = start(pool, request());
        awaitEnd(pool, operation);
        assertThat(lines(operation, "stdout")).containsExactly("a b", "$HOME; `id`", "*", "", "\"'");
    }

    @Test
    void environment_isNextToEmpty_butForWhatIsGiven() throws IOException {
        ProcessPool pool = open(pool().run("k", program("env")).environment("REPORTS", "/srv/reports"));
        RemoteOperation operation = start(pool, request());
        awaitEnd(pool, operation);
        assertThat(lines(operation, "stdout"))
                .contains("REPORTS=/srv/reports")
                .allMatch(line -> line.matches(
                        "(PATH|HOME|USER|LANG|LC_ALL|TZ|TMPDIR|PWD|OLDPWD|SHLVL|_|REPORTS|MILLRACE_[A-Z_]+)=.*"));
    }

    @Test
    void output_isStreamedInOrder_whileTheProcessRuns_andAReplayAddsNothing() throws IOException {
        Path gate = folder.resolve("gate");
        ProcessPool pool = running(
                "i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done",
                "while [ ! -e " + gate + " ]; do sleep 0.05; done",
                "printf 'no end of line'");
        RemoteOperation operation = start(pool, request());
        await().atMost(PATIENCE).until(() -> lines(operation, "stdout").size() == 300);
        assertThat(pool.observe(operation).hasEnded()).isFalse();
        pool.close();
        Files.delete(file(operation, "streamed.properties")); // what a JVM that dies may not have noted
        ProcessPool next = open(pool().run("k", program("exit 1")));
        Files.createFile(gate);
        assertThat(awaitEnd(next, operation)).isInstanceOf(Observation.Succeeded.class);
        List<String> expected = new ArrayList<>(
                IntStream.range(0, 300).mapToObj(i -> "line " + i).toList());
        expected.add("no end of line");
        assertThat(lines(operation, "stdout")).isEqualTo(expected);
        assertThat(logs.tail(operation.jobId(), 1).appended()).isEqualTo(301);
    }

    @Test
    void moreOutputThanTheLogIsToHold_isCutInTheMiddle() throws IOException {
        ProcessPool pool = open(pool().maxLogLines(100)
                .run("k", program("i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done")));
        RemoteOperation operation = start(pool, request());
        awaitEnd(pool, operation);
        List<String> lines = lines(operation, "stdout");
        assertThat(lines).hasSize(151);
        assertThat(lines.subList(0, 100)).first().isEqualTo("line 0");
        assertThat(lines.get(99)).isEqualTo("line 99");
        assertThat(lines.get(100)).contains("bytes of stdout are left out here");
        assertThat(lines.get(101)).isEqualTo("line 950");
        assertThat(lines.get(150)).isEqualTo("line 999");
    }

    /** The attempts of a job share its log, which remembers 8,192 lines and then takes no more. */
    @Test
    void moreLinesThanTheLogRemembers_areLeftOut_andNoneComesTwice() throws IOException {
        Path program = program("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done");
        ProcessPoolBuilder builder = pool().maxLogLines(8_000).run("k", program);
        StartRequest first = request();
        RemoteOperation one = start(open(builder), first);
        awaitStreamed(one);
        replayed(builder, one);
        assertThat(logs.tail(one.jobId(), 1).appended()).isEqualTo(5_000);
        RemoteOperation two = start(replayed(builder, one), new StartRequest(first.job(), 2, UUID.randomUUID()));
        awaitStreamed(two);
        assertThat(logs.tail(one.jobId(), 1).appended()).isEqualTo(8_000); // what fits, in batches of 500
        replayed(builder, one, two);
        assertThat(logs.tail(one.jobId(), 1).appended()).isEqualTo(8_000);
    }

    /** A pool in the place of the last one that has sent all of this again. */
    private ProcessPool replayed(ProcessPoolBuilder builder, RemoteOperation... operations) throws IOException {
        open.get(open.size() - 1).close();
        for (RemoteOperation operation : operations) {
            Files.delete(file(operation, "streamed.properties"));
        }
        ProcessPool next = open(builder);
        for (RemoteOperation operation : operations) {
            awaitStreamed(operation);
        }
        return next;
    }

    private void awaitStreamed(RemoteOperation operation) {
        awaitFile(operation, "streamed.properties");
        await().atMost(PATIENCE)
                .until(() ->
                        Files.readString(file(operation, "streamed.properties")).contains("done"));
    }

    @Test
    void exitCode_isAFailureThatMayBeRetried_withWhatItSaid() throws IOException {
        ProcessPool pool = running("echo 'no such customer' >&2", "exit 3");
        Observation.Failed failed = (Observation.Failed) awaitEnd(pool, start(pool, request()));
        assertThat(failed.message()).startsWith("Exit code 3.").contains("no such customer");
        assertThat(failed.retrying()).isEqualTo(Retrying.ALLOWED);
    }

    @Test
    void signal_isAFailure() throws IOException {
        ProcessPool pool = running("kill -9 $$");
        Observation.Failed failed = (Observation.Failed) awaitEnd(pool, start(pool, request()));
        assertThat(failed.message()).startsWith("Ended by signal 9");
    }

    @Test
    void programThatIsGone_andKindWithoutOne_failForGood() throws IOException {
        Path program = program("exit 0");
        ProcessPool pool = open(pool().run("k", program));
        Files.delete(program);
        Observation.Failed failed = (Observation.Failed) awaitEnd(pool, start(pool, request()));
        assertThat(failed.retrying()).isEqualTo(Retrying.POINTLESS);
        assertThat(failed.message()).contains("could not be executed");
        StartResult.Refused refused = (StartResult.Refused) pool.start(request("other", "{}"));
        assertThat(refused.retrying()).isEqualTo(Retrying.POINTLESS);
        assertThat(refused.message()).contains("\"other\"").contains("only for k");
    }

    @Test
    void resultThatIsNoJson_failsForGood() throws IOException {
        ProcessPool pool = running("echo '{broken' >\"$MILLRACE_RESULT_FILE\"");
        Observation.Failed failed = (Observation.Failed) awaitEnd(pool, start(pool, request()));
        assertThat(failed.message()).contains("no JSON");
        assertThat(failed.retrying()).isEqualTo(Retrying.POINTLESS);
    }

    @Test
    void progress_isTheLastLineOfItsFile() throws IOException {
        ProcessPool pool = running(
                "echo 10 fetching >\"$MILLRACE_PROGRESS_FILE\"; echo '42.5 compiling' >>\"$MILLRACE_PROGRESS_FILE\"",
                "touch written; exec sleep 60");
        RemoteOperation operation = start(pool, request());
        awaitFile(operation, "work/written");
        assertThat(pool.observe(operation)).isEqualTo(new Observation.Running(42.5, "compiling"));
        pool.cancel(operation);
        awaitEnd(pool, operation);
    }

    @Test
    void start_isIdempotent() throws IOException {
        Path count = folder.resolve("count");
        ProcessPool pool = running("echo x >>" + count);
        StartRequest request = request();
        RemoteOperation operation = start(pool, request);
        assertThat(start(pool, request)).isEqualTo(operation);
        awaitEnd(pool, operation);
        assertThat(start(pool, request)).isEqualTo(operation);
        pool.close();
        ProcessPool next = open(pool().run("k", program("echo y >>" + count)));
        assertThat(start(next, request)).isEqualTo(operation);
        assertThat(awaitEnd(next, operation)).isInstanceOf(Observation.Succeeded.class);
        assertThat(count).hasContent("x");
    }

    /** A JVM that dies right after it has started a wrapper makes the next one start another. */
    @Test
    void wrappersOfTheSameAttempt_runItOnce() throws IOException {
        Path count = folder.resolve("count");
        Path program = program("echo x >>" + count + "; sleep 0.2");
        StartRequest request = request();
        OperationFolder attempt = OperationFolder.create(folder, request.operation(), "k", "{}");
        Launcher launcher = new Launcher(Map.of());
        List<Process> wrappers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            wrappers.add(launcher.launch(attempt, List.of(program.toString())));
        }
        await().atMost(PATIENCE).until(() -> wrappers.stream().noneMatch(Process::isAlive));
        assertThat(count).hasContent("x");
        assertThat(attempt.exit()).isEqualTo("0");
    }

    @Test
    void noMoreProcessesThanAllowed_runAtATime_andThoseThatCameFirstGoFirst() throws IOException {
        Path gate = folder.resolve("gate");
        ProcessPool pool = open(pool().maxProcesses(2)
                .run("k", program("touch started; while [ ! -e " + gate + " ]; do sleep 0.05; done")));
        assertThat(pool.room()).isEqualTo(2);
        RemoteOperation one = start(pool, request());
        RemoteOperation two = start(pool, request());
        RemoteOperation three = start(pool, request());
        awaitFile(one, "work/started");
        awaitFile(two, "work/started");
        assertThat(pool.room()).isZero();
        assertThat(pool.operations()).hasSize(3);
        assertThat(pool.observe(three)).isEqualTo(new Observation.Running(null, "Waiting for a process to end"));
        assertThat(file(three, "started")).doesNotExist();
        Files.createFile(gate);
        for (RemoteOperation operation : List.of(one, two, three)) {
            assertThat(awaitEnd(pool, operation)).isInstanceOf(Observation.Succeeded.class);
        }
        assertThat(pool.room()).isEqualTo(2);
        assertThat(pool.operations()).isEmpty();
    }

    @Test
    void cancel_terminatesTheProcessAndItsChildren() throws IOException {
        ProcessPool pool = running("trap 'echo bye; exit 9' TERM", "sleep 60 & echo $! >child; wait");
        RemoteOperation operation = start(pool, request());
        awaitFile(operation, "work/child");
        await().until(() -> !Files.readString(file(operation, "work/child")).isEmpty());
        long child =
                Long.parseLong(Files.readString(file(operation, "work/child")).strip());
        pool.cancel(operation);
        assertThat(awaitEnd(pool, operation)).isEqualTo(new Observation.Cancelled());
        assertThat(lines(operation, "stdout")).containsExactly("bye");
        assertThat(file(operation, "exit")).content().isEqualToIgnoringWhitespace("9");
        await().atMost(PATIENCE).until(() -> ProcessIdentity.of(child).isEmpty());
        pool.cancel(operation); // again, of one that has ended
    }

    @Test
    void processThatIgnoresTerm_isKilledAfterTheGrace() throws IOException {
        ProcessPool pool = open(pool().killAfter(Duration.ofMillis(300))
                .run("k", program("trap '' TERM; touch started; while :; do sleep 0.05; done")));
        RemoteOperation operation = start(pool, request());
        awaitFile(operation, "work/started");
        pool.cancel(operation);
        assertThat(awaitEnd(pool, operation)).isEqualTo(new Observation.Cancelled());
        assertThat(file(operation, "exit")).content().isEqualToIgnoringWhitespace("137");
    }

    @Test
    void attemptThatIsCancelledBeforeItsStart_neverRuns() throws IOException {
        Path ran = folder.resolve("ran");
        ProcessPool pool = running("touch " + ran);
        StartRequest request = request();
        assertThat(pool.observe(request.operation())).isEqualTo(new Observation.Gone());
        pool.cancel(request.operation());
        RemoteOperation operation = start(pool, request);
        assertThat(awaitEnd(pool, operation)).isEqualTo(new Observation.Cancelled());
        assertThat(start(pool, request())).satisfies(other -> awaitEnd(pool, other));
        assertThat(ran).exists();
        assertThat(file(operation, "pid")).doesNotExist();
    }

    @Test
    void processWhoseWrapperIsKilled_hasVanished_alsoIfItsPidIsGivenToAnother() throws IOException {
        ProcessPool pool = running("touch started; exec sleep 60");
        RemoteOperation operation = start(pool, request());
        awaitFile(operation, "work/started");
        awaitFile(operation, "process.properties");
        long pid = Long.parseLong(Files.readString(file(operation, "pid")).strip());
        pool.close();
        ProcessHandle wrapper = ProcessHandle.of(pid).orElseThrow();
        List<ProcessHandle> all =
                Stream.concat(Stream.of(wrapper), wrapper.descendants()).toList();
        all.forEach(ProcessHandle::destroyForcibly);
        await().atMost(PATIENCE).until(() -> ProcessIdentity.of(pid).isEmpty());
        Files.writeString(
                file(operation, "pid"), String.valueOf(ProcessHandle.current().pid()));
        ProcessPool next = open(pool().run("k", program("exit 0")));
        Observation.Failed failed = (Observation.Failed) awaitEnd(next, operation);
        assertThat(failed.message()).contains("without an exit code");
        assertThat(failed.retrying()).isEqualTo(Retrying.ALLOWED);
    }

    @Test
    void folderOfAnAttempt_isDeletedSomeTimeAfterItsEnd() throws IOException {
        ProcessPool pool = running("exit 0");
        RemoteOperation operation = start(pool, request());
        awaitEnd(pool, operation);
        pool.close();
        Files.setLastModifiedTime(
                file(operation, "told"), FileTime.from(Instant.now().minus(Duration.ofDays(2))));
        ProcessPool next = open(pool().run("k", program("exit 0")));
        await().atMost(PATIENCE)
                .until(() -> !Files.exists(file(operation, "exit").getParent()));
        assertThat(next.observe(operation)).isEqualTo(new Observation.Gone());
    }

    @Test
    void attemptWhoseRecordIsTorn_isUnknown_andStopsNoOther() throws IOException {
        StartRequest request = request();
        StartRequest other = request();
        Path state = Files.createDirectory(folder.resolve("state"));
        for (StartRequest torn : List.of(request, other)) {
            OperationFolder.create(state, torn.operation(), "k", "{}");
        }
        Files.writeString(file(request.operation(), "operation.properties"), "");
        Files.writeString(file(other.operation(), "operation.properties"), "job=job-1\natt");
        Path ran = folder.resolve("ran");
        ProcessPool pool = running("echo x >>" + ran);
        for (StartRequest torn : List.of(request, other)) {
            assertThat(pool.observe(torn.operation())).isEqualTo(new Observation.Gone());
            StartResult.Refused refused = (StartResult.Refused) pool.start(torn);
            assertThat(refused.retrying()).isEqualTo(Retrying.ALLOWED);
            pool.cancel(torn.operation());
        }
        assertThat(pool.room()).isEqualTo(4);
        assertThat(awaitEnd(pool, start(pool, request()))).isInstanceOf(Observation.Succeeded.class);
        assertThat(ran).hasContent("x");
    }

    @Test
    void attemptOfWhichAnythingElseIsTorn_isRetried_orGoesOn() throws IOException {
        Path state = Files.createDirectory(folder.resolve("state"));
        RemoteOperation noExitCode = request().operation();
        RemoteOperation noPid = request().operation();
        for (RemoteOperation torn : List.of(noExitCode, noPid)) {
            OperationFolder.create(state, torn, "k", "{}").preventStart();
            Files.createFile(file(torn, "pid"));
        }
        Files.createFile(file(noExitCode, "exit"));
        Path gate = folder.resolve("gate");
        Path program = program("echo begun; while [ ! -e " + gate + " ]; do sleep 0.05; done");
        ProcessPool pool = open(pool().run("k", program));
        for (RemoteOperation torn : List.of(noExitCode, noPid)) {
            Observation.Failed failed = (Observation.Failed) awaitEnd(pool, torn);
            assertThat(failed.retrying()).isEqualTo(Retrying.ALLOWED);
            assertThat(failed.message()).contains("without an exit code");
        }
        RemoteOperation running = start(pool, request());
        awaitFile(running, "process.properties");
        awaitFile(running, "streamed.properties");
        pool.close();
        Files.writeString(file(running, "process.properties"), "");
        Files.writeString(file(running, "streamed.properties"), "lines=\\u00\nstdout=a");
        ProcessPool next = open(pool().run("k", program));
        assertThat(next.room()).isEqualTo(3);
        Files.createFile(gate);
        assertThat(awaitEnd(next, running)).isInstanceOf(Observation.Succeeded.class);
        assertThat(lines(running, "stdout")).containsExactly("begun");
    }

    /** As after an outage of the database, in which nobody could ask. */
    @Test
    void endThatNobodyWasTold_isKept_howeverLongAgoItWas() throws IOException {
        ProcessPool pool = running("exit 0");
        RemoteOperation operation = start(pool, request());
        awaitFile(operation, "exit");
        pool.close();
        Files.setLastModifiedTime(
                file(operation, "exit"), FileTime.from(Instant.now().minus(Duration.ofDays(30))));
        ProcessPool next = open(pool().run("k", program("exit 0")));
        awaitEnd(next, start(next, request())); // so it has looked after all of them
        assertThat(awaitEnd(next, operation)).isInstanceOf(Observation.Succeeded.class);
        next.close();
        Files.delete(file(operation, "told"));
        Files.setLastModifiedTime(
                file(operation, "exit"), FileTime.from(Instant.now().minus(Duration.ofDays(32))));
        ProcessPool last = open(pool().run("k", program("exit 0")));
        await().atMost(PATIENCE)
                .until(() -> !Files.exists(file(operation, "exit").getParent()));
        assertThat(last.room()).isEqualTo(4);
    }

    /** As systemd does with a whole control group when a service stops. */
    @Test
    void processThatIsTerminatedTogetherWithItsWrapper_isRetried() throws IOException {
        ProcessPool pool = running("touch started; exec sleep 60");
        RemoteOperation operation = start(pool, request());
        awaitFile(operation, "work/started");
        pool.close();
        long pid = Long.parseLong(Files.readString(file(operation, "pid")).strip());
        ProcessHandle wrapper = ProcessHandle.of(pid).orElseThrow();
        Stream.concat(Stream.of(wrapper), wrapper.descendants().toList().stream())
                .forEach(ProcessHandle::destroy);
        awaitFile(operation, "exit");
        Observation.Failed failed = (Observation.Failed) awaitEnd(open(pool().run("k", program("exit 0"))), operation);
        assertThat(failed.message()).startsWith("Ended by signal 15");
        assertThat(failed.retrying()).isEqualTo(Retrying.ALLOWED);
    }

    /** Deleting what a process has left may take long. */
    @Test
    void poolAnswers_whileTheFolderOfAnAttemptIsDeleted() throws IOException {
        ProcessPool pool = running("i=0; while [ $i -lt 20000 ]; do : >$i; i=$((i+1)); done");
        RemoteOperation operation = start(pool, request());
        awaitEnd(pool, operation);
        pool.close();
        Files.setLastModifiedTime(
                file(operation, "told"), FileTime.from(Instant.now().minus(Duration.ofDays(2))));
        ProcessPool next = open(pool().run("k", program("exit 0")));
        Path discarded = folder.resolve("state").resolve(".old-" + operation.token());
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> Files.exists(discarded));
        assertThat(next.observe(operation)).isEqualTo(new Observation.Gone());
        assertThat(discarded).exists();
        await().atMost(PATIENCE).until(() -> !Files.exists(discarded));
    }

    @Test
    void whatAKilledPoolHasLeftHalfDeleted_isDeletedByTheNext() throws IOException {
        Path left = Files.createDirectories(folder.resolve("state/.old-" + UUID.randomUUID() + "/work"))
                .getParent();
        running("exit 0");
        assertThat(left).doesNotExist();
    }

    @Test
    void secondPoolOnAFolder_isRefused_untilTheFirstIsClosed() throws IOException {
        ProcessPool pool = running("exit 0");
        assertThatThrownBy(() -> pool().open())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Another process pool");
        pool.close();
        assertThatThrownBy(() -> pool.start(request())).isInstanceOf(IllegalStateException.class);
        open(pool());
    }

    /** A lock is the process's: it is lost when the process closes any channel of its file. */
    @Test
    void secondPoolThatWasRefused_doesNotUnlockTheFolderForOtherJvms() throws IOException, InterruptedException {
        running("exit 0");
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("state"));
        for (ProcessPoolBuilder second : List.of(pool(), ProcessPool.in(link))) {
            assertThatThrownBy(second::open)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Another process pool, of this JVM");
        }
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        OtherJvm.class.getName(),
                        folder.resolve("state").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("Another process pool, of another JVM");
        assertThat(other.waitFor()).isZero();
    }

    /** Tries to open a pool on a folder, and prints why it can't. */
    static final class OtherJvm {
        private OtherJvm() {}

        public static void main(String[] args) {
            try (ProcessPool pool = ProcessPool.in(Path.of(args[0])).open()) {
                System.out.println("opened " + pool.name());
            } catch (IllegalStateException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    @Test
    void badSettings_areRefused() throws IOException {
        Path program = program("exit 0");
        List.<Runnable>of(
                        () -> pool().run("k", Path.of("relative")),
                        () -> pool().run("k", folder.resolve("absent")),
                        () -> pool().run("k", program).run("k", program),
                        () -> pool().run("k", program, "a\0b"),
                        () -> pool().environment("A=B", "x"),
                        () -> pool().environment("MILLRACE_JOB_ID", "x"),
                        () -> pool().environment("A", "x\0"),
                        () -> pool().name("local"),
                        () -> pool().maxProcesses(0),
                        () -> pool().maxLogLines(8_001),
                        () -> pool().killAfter(Duration.ofMillis(-1)),
                        () -> pool().keepFor(Duration.ZERO))
                .forEach(bad -> assertThatThrownBy(bad::run)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("of a process pool: found"));
    }
}
