/**
 * Time limits in ms of single operations. After a limit the operation fails, or the service continues without its
 * answer. Only tests change the limits (test/support/run/longTimeBudgets.ts), so that results do not depend on the speed
 * of the machine.
 */
export const TIME_LIMITS = {
  /** One request to ClickHouse. */
  databaseRequestMs: 30_000,
  /** The start of the embedded engine. After a crash, the engine may have to load many parts of tables. */
  engineStartMs: 60_000,
  /** One statement that the program sends to the engine while it starts. */
  engineQueryMs: 10_000,
  /** One endpoint's answer to a call that a node answers from memory, such as its head, while another endpoint is
   * available. */
  lightAttemptMs: 4_000,
  /** An endpoint that does not answer within this time has no vote about a block. */
  majorityAnswerMs: 4_000,
  /** The same limit for an endpoint whose last call failed, so that a dead endpoint delays the vote only a little. */
  majorityFailingMs: 500,
  /** The handshake of a WebSocket connection to a node. */
  handshakeMs: 10_000,
  /** A read that the API passes on to a node. */
  nodeReadMs: 3_000,
  /** Wait of a reconnecting stream client for a refresh of the head. */
  streamRefreshMs: 2_000,
  /**
   * Total time, per change, that the hub waits for clients that read slowly. It bounds the delay for all other
   * clients.
   */
  hubWaitMs: 100,
  /** Time without accepted bytes after which the hub no longer waits for a socket. */
  hubReadingMs: 50,
};
