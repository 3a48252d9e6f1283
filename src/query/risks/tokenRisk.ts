/** Judges one token by its measured traits, its names and the chain description. Pure. */
import type { ChainDescription } from '../../domain/chainDescription';
import type { Token } from '../../wire/primitives';
import type { TransferTax, Warning } from '../../wire/risks';
import type { TokenTraits } from './tokenTraits';

/**
 * A buy tax is only published if it was measured in at least this many buys; a sell tax likewise, in sells.
 */
const MEASURED_MIN = 5;
/** Smallest part that counts as a tax. Smaller parts are rounding of the token. */
const TAX_MIN = 0.0001;
/** Number of different buyers from which a token without a sale is suspicious. */
const BUYERS_MIN = 20;

/**
 * Matches a link or a call to claim something. Worthless tokens that are sent to many wallets have such names. The
 * domains .fi and .finance do not match, because some honest tokens are named after such a domain.
 */
const SPAM_NAME =
  /https?:|www\.|\bt\.me\b|[a-z0-9-]\.(?:com|net|org|io|xyz|app|site|online|top|vip|pro|live|cc|gift|claims?)\b|\b(?:claim|airdrop|visit|voucher|redeem)\b/i;

/** The parts of a chain description by which tokens are judged. */
export type RiskRules = Pick<ChainDescription, 'bridgedTokens' | 'forkBlock' | 'forkTokens'>;

const makeWarning = (code: string, severity: Warning['severity'], message: string): Warning => ({
  code,
  message,
  severity,
});

export const NEW: Warning = makeWarning('new', 'info', 'The first pool was created within the last 24 hours');
export const NO_METADATA: Warning = makeWarning(
  'no_metadata',
  'info',
  'The contract tells no symbol, no name and no decimals',
);

/**
 * The tax of both sides in percent. A side with fewer than five measured swaps is null. The result is null if both
 * sides are.
 */
export function taxOf(traits: TokenTraits | null): TransferTax | null {
  if (traits === null) return null;
  const taxPercent = (count: number, taxPart: number): number | null =>
    count < MEASURED_MIN ? null : taxPart < TAX_MIN ? 0 : Math.round(taxPart * 1e6) / 1e4;
  const tax = {
    buy: taxPercent(traits.buys, traits.buy_tax),
    sell: taxPercent(traits.sells, traits.sell_tax),
  };
  return tax.buy === null && tax.sell === null ? null : tax;
}

/** Sellers of a honeypot, per hundred buyers: the trap may let a few accomplices sell. */
const SELLERS_PERCENT_MAX = 5;

/** Whether so many addresses bought the token and so few sold it, without its creator, that sales may be impossible. */
export function hasFewSellers({ buyers, sellers }: Pick<TokenTraits, 'buyers' | 'sellers'>): boolean {
  return buyers >= BUYERS_MIN && sellers * 100 <= buyers * SELLERS_PERCENT_MAX;
}

/**
 * Whether sales of the token seem impossible. If somebody sold, simulated sales must have failed. If nobody did, it is
 * enough that no simulated sale succeeded.
 */
export function isHoneypot({
  buyers,
  sellers,
  sale_fails,
}: Pick<TokenTraits, 'buyers' | 'sellers' | 'sale_fails'>): boolean {
  return hasFewSellers({ buyers, sellers }) && (sellers === 0 ? sale_fails !== false : sale_fails === true);
}

/**
 * Whether the token was copied with the state of another chain: by the chain description, or by its measured traits.
 */
function isForked(address: string, traits: TokenTraits | null, rules: RiskRules): boolean {
  return (rules.forkTokens ?? []).some((token) => token === address) || traits?.forked === true;
}

/** Warnings about the contract of a token. The codes are also its flags. */
export function warningsOfToken(token: Token, traits: TokenTraits | null, rules: RiskRules): Warning[] {
  const { address, symbol, name } = token;
  const warnings: Warning[] = [];
  const tax = taxOf(traits);
  if (tax !== null && (tax.buy ?? 0) + (tax.sell ?? 0) > 0) {
    const partText = (percent: number | null): string =>
      percent === null ? 'an unknown part' : `${percent} %`;
    const message = `Transfers of this token cost ${partText(tax.buy)} of a buy and ${partText(tax.sell)} of a sale`;
    warnings.push(makeWarning('fee_on_transfer', 'warning', message));
  }
  if (traits !== null && isHoneypot(traits)) {
    const { buyers, sellers } = traits;
    const message =
      sellers === 0
        ? `${buyers} addresses bought this token, and nobody but its creator sold it`
        : `${buyers} addresses bought this token, ${sellers} sold it, and simulated sales of others fail`;
    warnings.push(makeWarning('honeypot', 'critical', message));
  }
  if (traits?.mintable === true)
    warnings.push(makeWarning('mintable', 'info', 'The contract has a function that can mint tokens'));
  if (traits?.pausable === true)
    warnings.push(makeWarning('pausable', 'info', 'The contract has a function that can pause transfers'));
  if (SPAM_NAME.test(`${symbol ?? ''} ${name ?? ''}`))
    warnings.push(
      makeWarning('spam', 'warning', 'The symbol or name contains a link or a call to claim something'),
    );
  const isBridged =
    (rules.bridgedTokens ?? []).some((bridgedToken) => bridgedToken === address) || traits?.bridged === true;
  if (isBridged)
    warnings.push(makeWarning('bridged', 'info', 'A bridge issues this token for a token of another chain'));
  else if (isForked(address, traits, rules))
    warnings.push(
      makeWarning(
        'state_fork',
        'warning',
        'The token was copied with the state of another chain and is not backed',
      ),
    );
  return warnings;
}

/** Smallest share of a pool's LP tokens, in percent, that is worth a warning. */
const CREATOR_SHARE_MIN = 1;

/** A warning if the creator of the token can withdraw a part of the liquidity. */
export function warningsOfShare(percent: number | null): Warning[] {
  if (percent === null || percent < CREATOR_SHARE_MIN) return [];
  const shownPercent = Math.round(percent * 100) / 100;
  return [
    makeWarning(
      'lp_held_by_creator',
      'warning',
      `The creator of the token holds ${shownPercent} % of the LP tokens`,
    ),
  ];
}
