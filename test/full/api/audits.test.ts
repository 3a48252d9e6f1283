/** Runs the tests of audits with every token at every block. The gate checks a sample. */
process.env['AUDITS'] = 'all';

jest.requireActual('../../integration/api/audit/audit.test');

export {};
