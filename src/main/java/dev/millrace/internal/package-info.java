/**
 * What several packages of the library share and applications should not use: public only for them, and changed without
 * notice.
 *
 * @serial exclude
 */
@NullMarked
package dev.millrace.internal;

import org.jspecify.annotations.NullMarked;
