/** GET /api/v1/chains: the chains of this service, the first chain first, and how current each is. */
import { chainSlug, type ChainDescription } from '../../domain/chainDescription';
import { chainsAnswerShape, type ChainItem } from '../../wire/chains';
import type { Route } from '../route';
import { NO_PROOF, readReadiness, type ReadyzDeps } from './readyz';

interface ListedChain extends Pick<ChainDescription, 'chainId' | 'name' | 'nativeSymbol'> {
  readonly ready: ReadyzDeps;
}

/** `list` gives the chains that this service has data of. */
export function chains(list: () => readonly ListedChain[]): Route {
  return {
    path: '/api/v1/chains',
    doc: {
      summary: 'The chains of this service, the first chain first, and how current each is',
      description:
        'Id, name and newest indexed block of each chain, and how many seconds the chain is behind. Id or slug name the ' +
        'chain in paths such as /api/v1/{chain}/pairs.',
      tag: 'service',
      answer: chainsAnswerShape,
    },
    async handle(ctx): Promise<void> {
      const data = await Promise.all(list().map(toItem));
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/json';
      ctx.body = JSON.stringify({ data });
    },
  };
}

async function toItem({ ready, ...chain }: ListedChain): Promise<ChainItem> {
  const { head, node, database } = readReadiness(ready).checks;
  const snapshot = ready.head();
  return {
    chain_id: chain.chainId,
    slug: chainSlug(chain),
    name: chain.name,
    native_symbol: chain.nativeSymbol,
    first_block: snapshot?.startBlock ?? null,
    indexed_block: head.block_number,
    head_block: node?.head ?? null,
    lag_seconds: head.age_seconds === null ? null : Math.max(0, head.age_seconds),
    state: !database.ok
      ? 'unavailable'
      : head.block_number === null
        ? 'empty'
        : head.ok
          ? 'current'
          : 'behind',
    logs_from_block: snapshot?.logsFrom ?? null,
    // A chain whose database fails must not hide the others.
    proof: await (ready.proof?.() ?? Promise.resolve(NO_PROOF)).catch(() => null),
  };
}
