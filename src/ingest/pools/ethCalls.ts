/**
 * The part of EndpointPool that the ingester uses for contract calls: batches of calls in which a revert
 * fails only its own call.
 */
import type { EndpointPool } from '../../chain/rpc/endpointPool';

export type EthCalls = Pick<EndpointPool, 'batchOutcomes'>;
