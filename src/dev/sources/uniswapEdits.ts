/**
 * The edits that turn Uniswap's V2 sources, with 30 basis points, into PulseX's 29 basis points. scripts/compileContracts.ts
 * compiles the edited sources, and the verification of the development chain's contracts shows them.
 */
import { AppError } from '../../errors';

type Edits = readonly (readonly [from: string, to: string])[];

/** Hashes of the creation code of Uniswap's and of the edited pair. A router contains one, to compute addresses of pools. */
const UNISWAP_PAIR_HASH = '96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f';
export const PULSE_DEV_PAIR_HASH = 'a678f8b08ffca14b6cedff9ee3466d39360ac602214632d811dd3775328be306';

const EDITS: Readonly<Record<string, Edits>> = {
  'contracts/UniswapV2Pair.sol': [
    ['amount0In.mul(3)', 'amount0In.mul(29)'],
    ['amount1In.mul(3)', 'amount1In.mul(29)'],
    ['balance0.mul(1000).sub', 'balance0.mul(10000).sub'],
    ['balance1.mul(1000).sub', 'balance1.mul(10000).sub'],
    ['mul(1000**2)', 'mul(10000**2)'],
  ],
  'contracts/libraries/UniswapV2Library.sol': [
    ['amountIn.mul(997)', 'amountIn.mul(9971)'],
    ['reserveIn.mul(1000)', 'reserveIn.mul(10000)'],
    ['mul(amountOut).mul(1000)', 'mul(amountOut).mul(10000)'],
    ['sub(amountOut).mul(997)', 'sub(amountOut).mul(9971)'],
    [UNISWAP_PAIR_HASH, PULSE_DEV_PAIR_HASH],
  ],
};

/** The content of a source file with PulseX's fee. Files without an edit stay as they are. */
export function withPulseFee(path: string, content: string): string {
  return (EDITS[path] ?? []).reduce((edited, [from, to]) => {
    if (edited.split(from).length !== 2)
      throw new AppError('internal', `the source ${path} must contain "${from}" exactly once`);
    return edited.replace(from, to);
  }, content);
}
