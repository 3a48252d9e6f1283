/** Decides whether a node limits the rate of all requests, or refuses a few of them at random. */

/** Weight of the earlier requests after each request. About the last ten requests count. */
const MEMORY = 0.9;

export class RefusedShare {
  private requests = 0;
  private refused = 0;

  /** @param isRefused whether the node refused the request because of its rate limit */
  note(isRefused: boolean): void {
    this.requests = MEMORY * this.requests + 1;
    this.refused = MEMORY * this.refused + (isRefused ? 1 : 0);
  }

  /** Whether the node refuses most requests. One refused request is no evidence. */
  get isMost(): boolean {
    return 2 * this.refused > this.requests + 1;
  }
}
