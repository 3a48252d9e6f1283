/** Gives answers long time limits in every test file, so that results do not depend on the load of the machine. */
import { TIME_BUDGETS } from '../../../src/query/head/timeBudgets';

TIME_BUDGETS.logCountMs = 60_000;
TIME_BUDGETS.logSearchMs = 60_000;
TIME_BUDGETS.regexMs = 60_000;
TIME_BUDGETS.nodeMs = 6_000;
