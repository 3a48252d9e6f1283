/** The part of EndpointPool that contract calls need: batches in which a revert fails only its own call. */
import type { EndpointPool } from '../../node/rpc/endpointPool';

export type EthCalls = Pick<EndpointPool, 'batchOutcomes'>;
