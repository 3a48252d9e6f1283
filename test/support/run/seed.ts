/**
 * Seed of tests over random data. The default is fixed, so that runs are repeatable; `SEED=7 npm test` tries another.
 */
export const SEED = Number(process.env['SEED'] ?? 20_261_121);
