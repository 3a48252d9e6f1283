/** Checks at startup that the endpoints serve the configured chain. */
import { TIME_LIMITS } from '../../domain/time/timeLimits';
import { AppError } from '../../errors';
import { parseChainId, type EndpointPool } from './endpointPool';

/**
 * Passes if at least one endpoint serves the chain `expected`. The endpoint pool logs endpoints of other chains and
 * does not use them. @throws AppError `bad_config` naming both ids if every endpoint serves another chain,
 * RpcError if no endpoint answers.
 */
export async function checkChainId(
  endpoints: EndpointPool,
  expected: number,
  signal?: AbortSignal,
): Promise<void> {
  const options = { attemptMs: TIME_LIMITS.lightAttemptMs, ...(signal === undefined ? {} : { signal }) };
  const chainId = await endpoints.call('eth_chainId', [], parseChainId, options);
  // The endpoint pool itself checks the chain id that it was created with. A pool with another chain id, or without
  // one, is checked here.
  if (chainId !== expected) {
    throw new AppError('bad_config', `the RPC endpoint serves chain ${chainId}, not ${expected}`);
  }
}
