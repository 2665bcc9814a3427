package dev.millrace.examples.digests;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/**
 * What the command line asks for.
 *
 * @param directory whose files to digest
 * @param help whether only the usage is to be printed
 */
record Arguments(Path directory, boolean help) {
    static final String USAGE = """
            Usage: DigestDemo [directory]

            Submits a job for each regular file below the directory (by default the home of the running JDK), whose
            handler computes the file's SHA-256. Two worker processes run the jobs; one of them is killed while it
            holds some. In the end every digest is compared with one that is computed directly.

            Symbolic links are not followed. Exit codes: 0 all is well, 1 a job was lost or a digest is wrong,
            2 the arguments are not usable.""";

    /** The command line is not usable; the message says why. */
    static final class UsageException extends Exception {
        private static final long serialVersionUID = 1L;

        UsageException(String message) {
            super(message);
        }
    }

    static Arguments parse(String... args) throws UsageException {
        if (List.of(args).contains("--help") || List.of(args).contains("-h")) {
            return new Arguments(Path.of(""), true);
        }
        if (args.length > 1) {
            throw new UsageException("Found " + args.length + " arguments; expected one directory, or none.");
        }
        String directory = args.length == 0 ? System.getProperty("java.home") : args[0];
        if (directory.startsWith("-")) {
            throw new UsageException(
                    "There is no option " + directory + ". A directory of that name is ./" + directory + ".");
        }
        return new Arguments(existing(directory), false);
    }

    private static Path existing(String directory) throws UsageException {
        Path path;
        try {
            path = Path.of(directory);
        } catch (InvalidPathException e) {
            throw new UsageException("\"" + directory + "\" is no path: " + e.getReason() + ".");
        }
        if (!Files.exists(path)) {
            throw new UsageException("There is no directory " + path.toAbsolutePath() + ".");
        }
        if (!Files.isDirectory(path)) {
            throw new UsageException(path.toAbsolutePath() + " is not a directory.");
        }
        if (!Files.isReadable(path)) {
            throw new UsageException("The directory " + path.toAbsolutePath() + " can't be read.");
        }
        return path;
    }
}
