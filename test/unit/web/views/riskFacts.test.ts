/** Tests the texts of the risk panel: an unknown fact is named as unknown, and a flag is never shown as good. */
import { riskFacts } from '../../../../src/web/views/riskFacts';

const SAFE = {
  flags: [],
  transfer_tax_pct: { buy: 0, sell: 0 },
  lp_locked_pct: 98.2,
  lp_held_by_creator_pct: 0,
};
const shown = (...given: Parameters<typeof riskFacts>): Record<string, string> =>
  Object.fromEntries(riskFacts(...given).map(({ name, text, tone }) => [name, `${text} (${tone})`]));

test('a token without risks has good facts', () => {
  expect(shown(SAFE, true, true)).toEqual({
    'Transfer tax': 'none (good)',
    'LP tokens': '98.2 % burnt or locked (good)',
    'LP of the creator': '0 % (good)',
    'Source code': 'verified (good)',
    Minting: 'no mint function found (good)',
  });
});

test('taxes, LP tokens of the creator, minting and other flags are warnings', () => {
  const item = {
    flags: ['fee_on_transfer', 'lp_held_by_creator', 'mintable', 'honeypot', 'constructor'],
    transfer_tax_pct: { buy: 5, sell: null },
    lp_locked_pct: 1,
    lp_held_by_creator_pct: 40,
  };
  expect(shown(item, false, true)).toEqual({
    'Transfer tax': 'buy 5 %, sell not measured (warn)',
    'LP tokens': '1 % burnt or locked (plain)',
    'LP of the creator': '40 % (warn)',
    'Source code': 'not verified (warn)',
    Minting: 'the contract can mint more (warn)',
    Also: 'Many bought it, and almost nobody could sell it (bad)',
  });
});

test('what is unknown is said to be unknown', () => {
  const item = { flags: [], transfer_tax_pct: null, lp_locked_pct: null, lp_held_by_creator_pct: null };
  expect(shown(item, null, true)).toMatchObject({
    'Transfer tax': 'not measured yet (plain)',
    'LP tokens': 'locked part unknown (plain)',
    'LP of the creator': 'unknown (plain)',
    'Source code': 'unknown (plain)',
  });
  expect(shown(item, null, false)['LP tokens']).toBe('none: the pool has positions (plain)');
});
