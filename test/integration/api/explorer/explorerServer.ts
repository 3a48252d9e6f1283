/** Serves the explorer's endpoints over HTTP for tests that store the rows themselves. */

import { createByteCache } from '../../../../src/api/byteCache';
import { explorerRoutes } from '../../../../src/api/explorerRoutes';
import type { ExplorerDeps } from '../../../../src/api/explorerRoute';
import type { QueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import type { SignatureReader, VerifiedReader } from '../../../../src/domain/verifiedContract';
import { createBlockHashes } from '../../../../src/query/head/blockHashes';
import { createContractReader } from '../../../../src/query/contracts/contracts';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createLogCounts } from '../../../../src/query/logs/logCounts';
import { createLogDecoder } from '../../../../src/query/logs/logDecoder';
import { Directory } from '../../../../src/query/tokens/directory';
import type { Json } from '../../../support/server/apiServer';
import { serveRoutes } from '../../../support/server/serveRoutes';

export const nothingVerified: VerifiedReader = {
  find: () => Promise.resolve(null),
  findMany: (contracts) => Promise.resolve(contracts.map(() => null)),
  readSources: () => Promise.resolve([]),
};
export const noSignatures: SignatureReader = {
  listBySelectors: () => Promise.resolve([]),
  listByPrefix: () => Promise.resolve([]),
};

export interface TestedChain {
  readonly chainId: number;
  readonly runner: QueryRunner;
  readonly head: () => HeadSnapshot | null;
}

/**
 * Dependencies of the endpoints over these chains. The first chain has the verified contracts; 369 and 943 are valid.
 */
export function explorerDeps(
  tested: readonly TestedChain[],
  verifiedDb: string,
  more: Partial<ExplorerDeps> = {},
): ExplorerDeps {
  const chains = new Map(
    tested.map(
      (one) =>
        [
          one.chainId,
          {
            ...one,
            hashes: createBlockHashes(one),
            logCounts: createLogCounts(one),
            directory: new Directory(one.runner),
          },
        ] as const,
    ),
  );
  const { verified = nothingVerified, signatures = noSignatures } = more;
  return {
    chainIds: [369, 943],
    findChain: (chainId) => chains.get(chainId) ?? null,
    cache: createByteCache(),
    contracts: createContractReader(
      (chainId) => {
        const chain = chains.get(chainId);
        const head = chain?.head() ?? null;
        return chain === undefined || head === null ? null : { source: chain, head };
      },
      () => verifiedDb,
    ),
    verified,
    signatures,
    decoder: createLogDecoder({ verified, signatures }),
    verifiedDb,
    namesOf: () => ({ dexes: [], pairs: () => [] }),
    ...more,
  };
}

export interface ExplorerAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Json;
}

export async function startExplorer(
  deps: ExplorerDeps,
  head: () => HeadSnapshot | null,
): Promise<{ get(path: string): Promise<ExplorerAnswer>; close(): Promise<void> }> {
  const { url, close } = await serveRoutes(explorerRoutes(deps), { head });
  return {
    async get(path) {
      const answer = await fetch(`${url}/api/v1${path}`);
      const json: Json = JSON.parse(await answer.text());
      return { status: answer.status, headers: answer.headers, json };
    },
    close,
  };
}
