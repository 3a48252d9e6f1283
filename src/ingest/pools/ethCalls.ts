/**
 * The part of EndpointPool that the ingester uses for contract calls: batches in which a revert affects only
 * its own call.
 */
import type { EndpointPool } from '../../chain/rpc/endpointPool';

export type EthCalls = Pick<EndpointPool, 'batchOutcomes'>;
