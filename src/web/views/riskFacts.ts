/** The risks of a token or pair in plain words: taxes, LP tokens, source code, minting, and the other flags. Pure. */
import type { PairDetail } from '../../wire/pairs';
import type { TokenDetail } from '../../wire/tokens';

export type RiskFields = Pick<
  TokenDetail | PairDetail,
  'flags' | 'transfer_tax_pct' | 'lp_locked_pct' | 'lp_held_by_creator_pct'
>;

/** Whether the source of the contract is verified; null if it is unknown. */
export type Verified = boolean | null;

type Tone = 'good' | 'plain' | 'warn' | 'bad';

interface Fact {
  readonly name: string;
  readonly text: string;
  readonly tone: Tone;
}

/** The sentence of a flag. `fee_on_transfer`, `lp_held_by_creator` and `mintable` have rows of their own instead. */
const SENTENCES: Readonly<Record<string, readonly [text: string, tone: Tone]>> = {
  honeypot: ['Many bought it, and almost nobody could sell it', 'bad'],
  rebasing: ['Balances change without transfers', 'warn'],
  pausable: ['Transfers can be paused', 'warn'],
  spam: ['The name contains a link or a call to claim something', 'bad'],
  bridged: ['A bridge issues the token', 'plain'],
  state_fork: ['The token was copied with the state of another chain', 'plain'],
  no_metadata: ['No symbol, name and decimals', 'warn'],
  ended: ['The curve has ended, and nobody can trade in it', 'bad'],
  new: ['Created within the last 24 hours', 'warn'],
};

/** The rows of the panel. A pool without LP tokens has positions. Pure. */
export function riskFacts(item: RiskFields, verified: Verified, hasLpToken: boolean): Fact[] {
  const otherFacts = item.flags.flatMap((flag) => {
    const sentence = Object.hasOwn(SENTENCES, flag) ? SENTENCES[flag] : undefined;
    if (sentence === undefined) return [];
    const [text, tone] = sentence;
    return [{ name: 'Also', text, tone }];
  });
  return [taxFact(item), ...lpFacts(item, hasLpToken), codeFact(verified), mintFact(item), ...otherFacts];
}

/** 98.2 as 98.2 % */
const percent = (percentage: number): string => `${Number(percentage.toFixed(2))} %`;

function taxFact({ transfer_tax_pct: tax, flags }: RiskFields): Fact {
  const name = 'Transfer tax';
  if (tax === null) return { name, text: 'not measured yet', tone: 'plain' };
  const sideText = (percentage: number | null): string =>
    percentage === null ? 'not measured' : percent(percentage);
  const isTaxed = flags.includes('fee_on_transfer') || (tax.buy ?? 0) > 0 || (tax.sell ?? 0) > 0;
  const text = isTaxed
    ? `buy ${sideText(tax.buy)}, sell ${sideText(tax.sell)}`
    : tax.buy === null || tax.sell === null
      ? `none in ${tax.buy === null ? 'sells' : 'buys'}; ${tax.buy === null ? 'buys' : 'sells'} not measured`
      : 'none';
  return { name, text, tone: isTaxed ? 'warn' : tax.buy === null || tax.sell === null ? 'plain' : 'good' };
}

function lpFacts(item: RiskFields, hasLpToken: boolean): Fact[] {
  const name = 'LP tokens';
  if (!hasLpToken) return [{ name, text: 'none: the pool has positions', tone: 'plain' }];
  const { lp_locked_pct: lockedPercent, lp_held_by_creator_pct: heldPercent } = item;
  const lockedFact: Fact =
    lockedPercent === null
      ? { name, text: 'locked part unknown', tone: 'plain' }
      : {
          name,
          text: `${percent(lockedPercent)} burnt or locked`,
          tone: lockedPercent >= 50 ? 'good' : 'plain',
        };
  const isHeld = item.flags.includes('lp_held_by_creator');
  const creatorFact: Fact =
    heldPercent === null
      ? { name: 'LP of the creator', text: 'unknown', tone: isHeld ? 'warn' : 'plain' }
      : { name: 'LP of the creator', text: percent(heldPercent), tone: isHeld ? 'warn' : 'good' };
  return [lockedFact, creatorFact];
}

function codeFact(verified: Verified): Fact {
  const name = 'Source code';
  if (verified === null) return { name, text: 'unknown', tone: 'plain' };
  return verified ? { name, text: 'verified', tone: 'good' } : { name, text: 'not verified', tone: 'warn' };
}

function mintFact({ flags }: RiskFields): Fact {
  const isMintable = flags.includes('mintable');
  return {
    name: 'Minting',
    text: isMintable ? 'the contract can mint more' : 'no mint function found',
    tone: isMintable ? 'warn' : 'good',
  };
}
