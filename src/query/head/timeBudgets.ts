/**
 * How long an answer may search or wait before it is given with less: a lower bound instead of a total, a value that is
 * null instead of asked from a slow node. The tests raise these bounds, so that a busy machine changes no answer.
 */
export const TIME_BUDGETS = {
  /** Counting the logs that match a filter; then the total is a lower bound. */
  logCountMs: 500,
  /** Searching windows of blocks for logs; then the page ends early and names where to go on. */
  logSearchMs: 3_000,
  /** Matching a regular expression against source files; then the list is incomplete, or the expression is refused. */
  regexMs: 2_000,
  /** A node's answer about a token's supply, or about the constructor arguments of a contract. */
  nodeMs: 300,
};
