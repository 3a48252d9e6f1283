/** The dialects of Etherscan, Sourcify and Blockscout. All tests of these files read one stored world. */
import './coreTests';
import './gasTests';
import './lookupTests';
import './moduleTests';
import './transferTests';
