/**
 * What the substrate does, as interfaces: each is usable alone. Every method is one transaction of its own unless its
 * object was made for a caller's transaction. Implementations are safe for use by many threads.
 *
 * <p>All of them throw {@link dev.millrace.store.StoreException} when the database can't do what was asked; where it is not
 * available they repeat the call first, for up to five seconds, if that is safe and the transaction is theirs. They throw
 * {@link dev.millrace.job.InvalidJobException}, before any SQL, when an argument is not allowed.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.store;

import org.jspecify.annotations.NullMarked;
