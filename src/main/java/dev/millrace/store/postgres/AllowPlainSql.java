package dev.millrace.store.postgres;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks the one class of this package that may write SQL as text; whatever it writes names no table. */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
@interface AllowPlainSql {
    /** Why it can't be composed. */
    String reason();
}
