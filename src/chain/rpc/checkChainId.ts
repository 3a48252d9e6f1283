/** Checks at startup that the endpoints serve the configured chain. */
import { AppError } from '../../errors';
import { LIGHT_ATTEMPT_MS, parseChainId, type EndpointPool } from './endpointPool';

/**
 * Passes if at least one endpoint serves `expected`. The pool refuses and logs endpoints of other chains.
 * @throws AppError `bad_config` naming both ids if every endpoint serves another chain, RpcError if no
 * endpoint answers.
 */
export async function checkChainId(
  pool: EndpointPool,
  expected: number,
  signal?: AbortSignal,
): Promise<void> {
  const options = { attemptMs: LIGHT_ATTEMPT_MS, ...(signal === undefined ? {} : { signal }) };
  const chainId = await pool.call('eth_chainId', [], parseChainId, options);
  // This check is needed for a pool that was created for another chain, or without a chain id.
  if (chainId !== expected) {
    throw new AppError('bad_config', `the RPC endpoint serves chain ${chainId}, not ${expected}`);
  }
}
