/** Shapes of warnings and of transfer taxes, and the description of the risk flags of tokens and pairs. */
import { z } from 'zod';

import { percentShape } from './primitives';

export const warningShape = z
  .object({
    code: z.string().meta({ description: 'Stable code', example: 'no_route' }),
    message: z
      .string()
      .meta({ description: 'Description of the warning for people; the wording may change' }),
    severity: z.enum(['info', 'warning', 'critical']).meta({ description: 'How serious the warning is' }),
  })
  .meta({ id: 'Warning' });
export type Warning = z.infer<typeof warningShape>;

export const transferTaxShape = z
  .object({
    buy: percentShape.nullable().meta({
      description: 'Part of a bought amount that does not arrive, percent; null before 5 measured swaps',
    }),
    sell: percentShape.nullable().meta({
      description: 'Part of a sold amount that the pool does not get, percent; null before 5 measured swaps',
    }),
  })
  .meta({ id: 'TransferTax' });
export type TransferTax = z.infer<typeof transferTaxShape>;

/** The meaning of each flag, for the OpenAPI descriptions of tokens and pairs. */
export const RISK_FLAGS =
  '`fee_on_transfer`: a part of a bought or sold amount does not arrive, see transfer_tax_pct; `rebasing`: balances ' +
  'change without transfers, as checks with balanceOf found; `honeypot`: at least 20 addresses ' +
  'bought the token, at most 5 % as many sold it, and simulated sales fail; without a simulation, if nobody but its ' +
  'creator sold it; `mintable`, `pausable`: the code or the verified ABI has a function that mints or pauses; ' +
  '`lp_held_by_creator`: the creator of the token holds at least 1 % of the LP tokens; `spam`: the symbol or name ' +
  'contains a link or a call to claim something; `bridged`: a bridge issues the token; `state_fork`: the token was ' +
  'copied with the state of another chain; `no_metadata`: no symbol, name and decimals; `new`: created within 24 h';
