/** Builds the verification queue of an API that may write, with its compilers, code sources and store. */
import type { EndpointPool } from '../node/rpc/endpointPool';
import type { Database } from '../clickhouse/client/database';
import { createQueryRunner } from '../clickhouse/client/namedQueries';
import type { VerificationQueue } from '../domain/verificationQueue';
import type { Logger } from '../log';
import type { ContractReader } from '../query/contracts/contracts';
import type { VerificationStore } from '../query/contracts/verifiedContracts';
import { createChainCode } from '../contracts/chainCode';
import { createVerifiedStore } from '../contracts/storeVerified';
import type { Compilers } from '../contracts/verify/compilers';
import { createVerifyQueue } from '../contracts/verifyQueue';

interface VerifyQueueParts {
  /** Writer of the market chain's database, which holds the verified contracts of all chains. */
  readonly writer: Database;
  readonly reader: VerificationStore;
  readonly contracts: ContractReader;
  /** Node pools by chain; null if no node is configured. */
  readonly nodes: ReadonlyMap<number, EndpointPool | null>;
  readonly compilers: Compilers;
  readonly log: Logger;
  /** Called after a verification is stored. */
  readonly onStored: () => void;
}

export function openVerifyQueue({
  writer,
  reader,
  contracts,
  nodes,
  compilers,
  log,
  onStored,
}: VerifyQueueParts): VerificationQueue {
  const known = [...nodes].flatMap(([chainId, pool]) => (pool === null ? [] : [[chainId, pool] as const]));
  const verified = createVerifiedStore(writer, createQueryRunner(writer));
  return createVerifyQueue({
    compilers,
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
