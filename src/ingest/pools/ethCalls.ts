/** The part of the node's pool of endpoints that the ingester uses beside blocks: batches in which a revert stays with its call. */
import type { EndpointPool } from '../../chain/rpc/endpointPool';

export type EthCalls = Pick<EndpointPool, 'batchSettled'>;
