package dev.millrace.store.postgres;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks the one class of this package that may hand SQL over as text; no table is named in its own. */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
@interface AllowPlainSql {
    /** Why it can't be composed. */
    String reason();
}
