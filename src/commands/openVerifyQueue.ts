/** The queue of verifications of an API that may write: what it compares with, where it stores what it found. */
import type { EndpointPool } from '../chain/rpc/endpointPool';
import type { Database } from '../clickhouse/client/database';
import { createQueryRunner } from '../clickhouse/client/namedQueries';
import type { VerificationQueue } from '../domain/verification';
import type { Logger } from '../log';
import type { ContractReader } from '../query/contracts/contracts';
import type { VerificationStore } from '../query/contracts/verifiedContracts';
import { createChainCode } from '../sources/chainCode';
import { createVerifiedStore } from '../sources/storeVerified';
import { findCompilers } from '../sources/verify/compilers';
import { createVerifyQueue } from '../sources/verifyQueue';

export interface VerifyQueueParts {
  /** Of the market chain's database, where verified contracts of all chains are. */
  readonly writer: Database;
  readonly reader: VerificationStore;
  readonly contracts: ContractReader;
  /** By chain; null: no node is configured. */
  readonly nodes: ReadonlyMap<number, EndpointPool | null>;
  readonly log: Logger;
  /** Told when a verification is stored. */
  readonly onStored: () => void;
}

export function openVerifyQueue({
  writer,
  reader,
  contracts,
  nodes,
  log,
  onStored,
}: VerifyQueueParts): VerificationQueue {
  const known = [...nodes].flatMap(([chainId, pool]) => (pool === null ? [] : [[chainId, pool] as const]));
  const verified = createVerifiedStore(writer, createQueryRunner(writer));
  return createVerifyQueue({
    compilers: findCompilers(),
    chain: createChainCode(new Map(known)),
    reader,
    store: {
      async store(records) {
        const result = await verified.store(records);
        onStored();
        return result;
      },
    },
    findCreationTransaction: async ({ chainId, address }) =>
      (await contracts.find(chainId, address))?.creation?.txHash ?? null,
    log,
  });
}
