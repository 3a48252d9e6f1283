/** Before each test file: answers may take long, so that they do not depend on how busy the machine is. */
import { TIME_BUDGETS } from '../../src/query/head/timeBudgets';

TIME_BUDGETS.logCountMs = 60_000;
TIME_BUDGETS.logSearchMs = 60_000;
TIME_BUDGETS.regexMs = 60_000;
TIME_BUDGETS.nodeMs = 6_000;
