/**
 * Verifies the contracts of the development chain by their sources, in the queue that also serves clients. The
 * compiler runs, and its code is compared with the code on the chain.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Hex } from '../../domain/hex';
import { OWN_CLIENT, type VerificationQueue } from '../../domain/verificationQueue';
import { errorText } from '../../errors';
import type { Logger } from '../../log';
import type { World } from '../world/world';
import { DEX_V2, DEX_V2_29 } from '../world/worldPlan';
import {
  FACTORY_FILE,
  PAIR_FILE,
  readCoreSources,
  readOwnSources,
  readRouterSources,
  ROUTER_FILE,
  type SourceSet,
} from './devSources';

interface DevContract {
  readonly address: Hex;
  /** `path:Name` */
  readonly name: string;
  readonly sourceSet: SourceSet;
}

interface VerifyOptions {
  readonly queue: VerificationQueue;
  readonly chainId: number;
  readonly world: World;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const POLL_MS = 100;
/** The V2 exchanges, in the order of `World.v2`. */
const DEXES_V2 = [DEX_V2, DEX_V2_29];

/**
 * Resolves when every contract has a result, or when the signal aborts. Never rejects. One contract is compiled at a
 * time, at the lowest priority. Contracts whose compiler is not installed stay unverified.
 */
export async function verifyDevContracts(options: VerifyOptions): Promise<void> {
  const { queue, world, log, signal } = options;
  try {
    const versions = await queue.listCompilers();
    const contracts = listDevContracts(world).filter(({ sourceSet }) =>
      versions.includes(sourceSet.compiler),
    );
    let verifiedCount = 0;
    for (const contract of contracts) if (await verifyOne(options, contract)) verifiedCount += 1;
    log.info(
      { verified: verifiedCount, of: contracts.length },
      'verified the contracts of the development chain',
    );
  } catch (error) {
    if (!signal.aborted)
      log.warn({ error: errorText(error) }, 'the contracts of the development chain are not all verified');
  }
}

/** Whether the contract is verified at the end. */
async function verifyOne(
  { queue, chainId, signal }: VerifyOptions,
  { address, name, sourceSet }: DevContract,
): Promise<boolean> {
  const request = {
    chainId,
    address,
    input: sourceSet.input,
    contractName: name,
    compilerVersion: sourceSet.compiler,
    license: null,
  };
  signal.throwIfAborted();
  const submission = await queue.submit(request, OWN_CLIENT);
  if (submission.kind !== 'queued') return submission.kind === 'already_verified';
  // Each job ends, because the queue limits the time of the compiler.
  let state = queue.status(submission.guid);
  while (state?.state === 'pending') {
    await delay(POLL_MS, undefined, { signal });
    state = queue.status(submission.guid);
  }
  return state !== null && state.state !== 'failed';
}

/**
 * The contracts with sources: first those that the page shows most. All pools of a V2 exchange have the same code, so
 * the verification of the most popular pool counts for each.
 */
export function listDevContracts({ tokens, pools, v2, trader, multicall3 }: World): DevContract[] {
  const ownSources = readOwnSources();
  const ownContract = (address: Hex, name: string): DevContract => ({
    address,
    name: `${name}.sol:${name}`,
    sourceSet: ownSources,
  });
  const poolsByPopularity = [...pools].sort((a, b) => b.popularity - a.popularity);
  const mostPopularPools = DEXES_V2.flatMap(
    (dex) => poolsByPopularity.find((pool) => pool.dex === dex) ?? [],
  );
  return [
    ...mostPopularPools.map(({ address, dex }) => {
      return { address, name: `${PAIR_FILE}:UniswapV2Pair`, sourceSet: readCoreSources(dex === DEX_V2_29) };
    }),
    ...tokens.map(({ address, contract }) => ownContract(address, contract)),
    ...v2.flatMap(({ factory, router }, index) => {
      const isEdited = DEXES_V2[index] === DEX_V2_29;
      return [
        { address: factory, name: `${FACTORY_FILE}:UniswapV2Factory`, sourceSet: readCoreSources(isEdited) },
        { address: router, name: `${ROUTER_FILE}:UniswapV2Router02`, sourceSet: readRouterSources(isEdited) },
      ];
    }),
    ownContract(trader, 'DevTrader'),
    ownContract(multicall3, 'DevMulticall3'),
  ];
}
