/** GET /api/v1/chains: the chains of this service, the market chain first, and how current each is. */
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { chainsAnswerShape, type ChainItem } from '../../wire/chains';
import type { Proof } from '../../wire/proof';
import type { Route } from '../route';
import { readReadiness, type ReadyzDeps } from './readyz';

interface ChainName {
  readonly chainId: number;
  readonly name: string;
  readonly nativeSymbol: string;
}

interface ChainsDeps {
  readonly market: ChainName;
  readonly ready: ReadyzDeps;
  proof(): Promise<Proof>;
  /** The other chains that this service has data of, with their newest indexed blocks. */
  otherChains(): readonly (ChainName & { readonly head: HeadSnapshot | null })[];
}

/** Age in seconds from which on a chain counts as behind, as in /readyz. */
const AGE_MAX_S = 300;

export function chains({ market, ready, proof, otherChains }: ChainsDeps): Route {
  return {
    path: '/api/v1/chains',
    doc: {
      summary: 'The chains of this service, the market chain first, and how current each is',
      description:
        'Id, name and newest indexed block of each chain, and how many seconds the chain is behind.',
      tag: 'service',
      answer: chainsAnswerShape,
    },
    async handle(ctx): Promise<void> {
      const data = [toMarketItem(market, ready, await proof()), ...otherChains().map(toOtherItem)];
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/json';
      ctx.body = JSON.stringify({ data });
    },
  };
}

function toMarketItem(market: ChainName, deps: ReadyzDeps, proof: Proof): ChainItem {
  const { checks } = readReadiness(deps);
  const { head, node, database } = checks;
  return {
    ...nameOf(market),
    first_block: deps.head()?.startBlock ?? null,
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
    logs_from_block: deps.head()?.logsFrom ?? null,
    proof,
  };
}

function toOtherItem({ head, ...chain }: ReturnType<ChainsDeps['otherChains']>[number]): ChainItem {
  const ageSeconds = head === null ? null : Math.max(0, Math.floor(Date.now() / 1_000) - head.timestamp);
  return {
    ...nameOf(chain),
    first_block: head?.startBlock ?? null,
    indexed_block: head?.number ?? null,
    head_block: null,
    lag_seconds: ageSeconds,
    state: ageSeconds === null ? 'empty' : ageSeconds < AGE_MAX_S ? 'current' : 'behind',
    logs_from_block: head?.logsFrom ?? null,
    proof: null,
  };
}

function nameOf({
  chainId,
  name,
  nativeSymbol,
}: ChainName): Pick<ChainItem, 'chain_id' | 'slug' | 'name' | 'native_symbol'> {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return { chain_id: chainId, slug, name, native_symbol: nativeSymbol };
}
