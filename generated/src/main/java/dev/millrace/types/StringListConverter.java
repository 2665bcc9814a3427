package dev.millrace.types;

import java.util.List;
import org.jooq.impl.AbstractConverter;
import org.jspecify.annotations.Nullable;

/**
 * Text array columns as unmodifiable lists, in the order of the array. Lists and arrays with a null in them are refused
 * with an {@link IllegalArgumentException}. Stateless and safe for use by several threads. Public because the generated
 * tables name it.
 */
public final class StringListConverter extends AbstractConverter<String[], List<String>> {

    private static final long serialVersionUID = 1L;

    /** A converter; it has no state, so that one can serve all. */
    public StringListConverter() {
        super(String[].class, listOfStrings());
    }

    @Override
    public @Nullable List<String> from(@Nullable String @Nullable [] array) {
        if (array == null) {
            return null;
        }
        for (int i = 0; i < array.length; i++) {
            refuseNull(array[i], i);
        }
        return List.of(array);
    }

    @Override
    public String @Nullable [] to(@Nullable List<String> list) {
        if (list == null) {
            return null;
        }
        String[] array = list.toArray(new String[0]);
        for (int i = 0; i < array.length; i++) {
            refuseNull(array[i], i);
        }
        return array;
    }

    private static void refuseNull(@Nullable String element, int index) {
        if (element == null) {
            throw new IllegalArgumentException(
                    "Element " + index + " of a text array is null; each element has to be a string.");
        }
    }

    // A class literal can't carry the type argument; no other list than one of strings ever gets here.
    @SuppressWarnings("unchecked")
    private static Class<List<String>> listOfStrings() {
        return (Class<List<String>>) (Class<?>) List.class;
    }
}
