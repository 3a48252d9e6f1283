/** Amounts of decoded events in whole tokens, for events whose amounts are of known tokens. Pure. */

/** A token whose decimals are known. */
interface Scale {
  readonly symbol: string | null;
  readonly decimals: number | null;
}

/** The contract that emitted the event: its own token, and the tokens of its pool. */
export interface Emitter {
  readonly token: Scale | null;
  readonly pair: { readonly pool_type: number; readonly tokens: readonly Scale[] } | null;
}

/** The token of each amount by the position of the argument: the contract's own, or a token of its pool. */
type Amounts = Readonly<Record<number, 'own' | 0 | 1>>;

/** Amounts by event signature, from ERC-20, WETH9, UniswapV2Pair, UniswapV3Pool and PancakeV3Pool. */
const AMOUNTS: Readonly<Record<string, Amounts>> = {
  'Transfer(address,address,uint256)': { 2: 'own' },
  'Approval(address,address,uint256)': { 2: 'own' },
  'Deposit(address,uint256)': { 1: 'own' },
  'Withdrawal(address,uint256)': { 1: 'own' },
  'Sync(uint112,uint112)': { 0: 0, 1: 1 },
  'Mint(address,uint256,uint256)': { 1: 0, 2: 1 },
  'Burn(address,uint256,uint256,address)': { 1: 0, 2: 1 },
  'Swap(address,uint256,uint256,uint256,uint256,address)': { 1: 0, 2: 1, 3: 0, 4: 1 },
  'Swap(address,address,int256,int256,uint160,uint128,int24)': { 2: 0, 3: 1 },
  'Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)': { 2: 0, 3: 1 },
  'Mint(address,address,int24,int24,uint128,uint256,uint256)': { 5: 0, 6: 1 },
  'Burn(address,int24,int24,uint128,uint256,uint256)': { 4: 0, 5: 1 },
  'Collect(address,address,int24,int24,uint128,uint128)': { 4: 0, 5: 1 },
};

/** LP tokens of V2 pairs have 18 decimals, as in UniswapV2ERC20.sol. */
const V2 = 2;
const LP_TOKEN: Scale = { symbol: 'LP', decimals: 18 };

interface Arg {
  readonly position: number;
  readonly indexed: boolean;
  readonly value: unknown;
}

/** The amount with its symbol; null if the argument is no amount of a token with known decimals. */
export function scaledAmount(signature: string, arg: Arg, emitter: Emitter): string | null {
  const amountToken = Object.hasOwn(AMOUNTS, signature) ? AMOUNTS[signature]?.[arg.position] : undefined;
  // The id of an NFT is indexed, and no amount.
  if (amountToken === undefined || arg.indexed || typeof arg.value !== 'string') return null;
  const scale = amountToken === 'own' ? ownToken(emitter) : emitter.pair?.tokens[amountToken];
  const { decimals = null, symbol = null } = scale ?? {};
  if (decimals === null || !/^-?\d+$/.test(arg.value)) return null;
  return `${scaled(arg.value, decimals)}${symbol === null ? '' : ` ${symbol}`}`;
}

function ownToken({ token, pair }: Emitter): Scale | null {
  return token ?? (pair?.pool_type === V2 ? LP_TOKEN : null);
}

/** Moves the decimal point of an integer, and groups its thousands. */
function scaled(raw: string, decimals: number): string {
  const sign = raw.startsWith('-') ? '−' : '';
  const digits = raw.replace('-', '').padStart(decimals + 1, '0');
  const wholePart = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  return `${sign}${wholePart}${fraction === '' ? '' : `.${fraction}`}`;
}
