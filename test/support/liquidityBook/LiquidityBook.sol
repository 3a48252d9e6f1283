// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Token {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
}

/// Amounts of tokenX and tokenY.
struct Both {
    uint256 x;
    uint256 y;
}

function pack(Both memory both) pure returns (bytes32) {
    require(both.x < 2 ** 128 && both.y < 2 ** 128, "128 bits");
    return bytes32((both.y << 128) | both.x);
}

function plus(Both memory a, Both memory b) pure returns (Both memory) {
    return Both(a.x + b.x, a.y + b.y);
}

function minus(Both memory a, Both memory b) pure returns (Both memory) {
    return Both(a.x - b.x, a.y - b.y);
}

/// a · b / d with a product of 512 bits, rounded down or up.
function mulDiv(uint256 a, uint256 b, uint256 d, bool up) pure returns (uint256 result) {
    uint256 remainder = mulmod(a, b, d);
    unchecked {
        uint256 low = a * b;
        uint256 high = mulmod(a, b, type(uint256).max) - low;
        if (mulmod(a, b, type(uint256).max) < low) high -= 1;
        require(high < d, "512 bits");
        // Subtracts the remainder, divides by the largest power of two, and multiplies with the inverse of the odd rest.
        if (remainder > low) high -= 1;
        low -= remainder;
        uint256 two = d & (~d + 1);
        d /= two;
        low = low / two + high * ((~two + 1) / two + 1);
        uint256 inverse = (3 * d) ^ 2;
        for (uint256 i = 0; i < 6; i++) inverse *= 2 - d * inverse;
        result = low * inverse;
    }
    if (up && remainder > 0) result += 1;
}

/// (1 + binStep / 10⁴)^(id − 2²³) with 128 binary places.
function priceOf(uint256 binStep, uint24 id) pure returns (uint256 price) {
    int256 exponent = int256(uint256(id)) - 2 ** 23;
    uint256 rest = uint256(exponent < 0 ? -exponent : exponent);
    require(rest < 2 ** 20);
    uint256 square = type(uint256).max / (2 ** 128 + (binStep << 128) / 10000);
    price = 2 ** 128;
    for (; rest > 0; rest >>= 1) {
        if (rest & 1 == 1) price = (price * square) >> 128;
        square = (square * square) >> 128;
    }
    require(price > 0);
    if (exponent > 0) price = type(uint256).max / price;
}

/// Contracts for tests: they emit the events of Liquidity Book in the published order and follow the published formulas.
/// `second` selects the version: false for 2.1, true for 2.2. The next bin with liquidity is found by trying each id.
contract Factory {
    bool public immutable second;
    address[] public allPairs;
    mapping(address => mapping(address => mapping(uint256 => address))) private pairOf;

    event LBPairCreated(address indexed tokenX, address indexed tokenY, uint256 indexed binStep, address pair, uint256 pid);

    constructor(bool second_) {
        second = second_;
    }

    function createLBPair(address tokenX, address tokenY, uint24 activeId, uint16 binStep) external {
        address pair = address(new Pair(Token(tokenX), Token(tokenY), activeId, binStep));
        pairOf[tokenX][tokenY][binStep] = pair;
        pairOf[tokenY][tokenX][binStep] = pair;
        allPairs.push(pair);
        if (second) emit LBPairCreated(tokenX, tokenY, binStep, pair, allPairs.length - 1);
        Pair(pair).setStaticFeeParameters(5000, 30, 600, 5000, 40000, 1000, 350000);
        if (!second) emit LBPairCreated(tokenX, tokenY, binStep, pair, allPairs.length - 1);
    }

    function getLBPairInformation(address a, address b, uint256 binStep)
        external
        view
        returns (uint16, address, bool, bool)
    {
        return (uint16(binStep), pairOf[a][b][binStep], true, false);
    }
}

contract Pair {
    Factory public immutable getFactory;
    Token public immutable getTokenX;
    Token public immutable getTokenY;
    uint16 public immutable getBinStep;

    uint24 public getActiveId;
    mapping(uint256 => Both) private bins;
    /// The tokens in bins and the protocol's fees.
    Both private held;
    Both private protocolFees;
    mapping(uint256 => uint256) public totalSupply;
    mapping(address => mapping(uint256 => uint256)) public balanceOf;

    struct Fees {
        uint16 baseFactor;
        uint16 filterPeriod;
        uint16 decayPeriod;
        uint16 reductionFactor;
        uint24 variableFeeControl;
        uint16 protocolShare;
        uint24 maxVolatilityAccumulator;
    }
    struct Volatility {
        uint24 accumulator;
        uint24 reference_;
        uint24 idReference;
        uint40 timeOfLastUpdate;
    }

    Fees public getStaticFeeParameters;
    Volatility public getVariableFeeParameters;

    event DepositedToBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts);
    event WithdrawnFromBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts);
    event CompositionFees(address indexed sender, uint24 id, bytes32 totalFees, bytes32 protocolFees);
    event CollectedProtocolFees(address indexed feeRecipient, bytes32 protocolFees);
    event Swap(
        address indexed sender,
        address indexed to,
        uint24 id,
        bytes32 amountsIn,
        bytes32 amountsOut,
        uint24 volatilityAccumulator,
        bytes32 totalFees,
        bytes32 protocolFees
    );
    event StaticFeeParametersSet(address indexed sender, uint16, uint16, uint16, uint16, uint24, uint16, uint24);
    event FlashLoan(
        address indexed sender,
        address indexed receiver,
        uint24 activeId,
        bytes32 amounts,
        bytes32 totalFees,
        bytes32 protocolFees
    );
    event TransferBatch(address indexed sender, address indexed from, address indexed to, uint256[] ids, uint256[] amounts);

    constructor(Token tokenX, Token tokenY, uint24 activeId, uint16 binStep) {
        (getFactory, getTokenX, getTokenY, getBinStep, getActiveId) =
            (Factory(msg.sender), tokenX, tokenY, binStep, activeId);
        getVariableFeeParameters.idReference = activeId;
    }

    function getReserves() external view returns (uint128, uint128) {
        return (uint128(held.x - protocolFees.x), uint128(held.y - protocolFees.y));
    }

    function getBin(uint24 id) external view returns (uint128, uint128) {
        return (uint128(bins[id].x), uint128(bins[id].y));
    }

    function setStaticFeeParameters(uint16 a, uint16 b, uint16 c, uint16 d, uint24 e, uint16 f, uint24 g) external {
        getStaticFeeParameters = Fees(a, b, c, d, e, f, g);
        emit StaticFeeParametersSet(msg.sender, a, b, c, d, e, f, g);
    }

    function getPriceFromId(uint24 id) public view returns (uint256) {
        return priceOf(getBinStep, id);
    }

    function updated(Volatility memory v, uint24 activeId) private view returns (Volatility memory) {
        uint256 since = block.timestamp - v.timeOfLastUpdate;
        Fees memory fees = getStaticFeeParameters;
        if (since >= fees.filterPeriod) {
            v.idReference = activeId;
            v.reference_ =
                since < fees.decayPeriod ? uint24((uint256(v.accumulator) * fees.reductionFactor) / 10000) : 0;
        }
        v.timeOfLastUpdate = uint40(block.timestamp);
        return v;
    }

    function accumulated(Volatility memory v, uint24 id) private view returns (Volatility memory) {
        uint256 distance = id > v.idReference ? id - v.idReference : v.idReference - id;
        uint256 sum = v.reference_ + distance * 10000;
        uint256 most = getStaticFeeParameters.maxVolatilityAccumulator;
        v.accumulator = uint24(sum > most ? most : sum);
        return v;
    }

    /// In units of 1e-18.
    function totalFee(Volatility memory v) private view returns (uint256) {
        Fees memory fees = getStaticFeeParameters;
        uint256 product = uint256(v.accumulator) * getBinStep;
        return uint256(fees.baseFactor) * getBinStep * 1e10
            + (product * product * fees.variableFeeControl + 99) / 100;
    }

    /// What a bin takes in, with its fee, and pays out.
    function trade(Volatility memory v, bool swapForY, uint24 id, uint256 left)
        private
        view
        returns (uint256 amountIn, uint256 fee, uint256 out)
    {
        uint256 price = getPriceFromId(id);
        uint256 most = swapForY ? bins[id].y : bins[id].x;
        amountIn = swapForY ? mulDiv(most, 2 ** 128, price, true) : mulDiv(most, price, 2 ** 128, true);
        uint256 rate = totalFee(v);
        fee = (amountIn * rate + (1e18 - rate) - 1) / (1e18 - rate);
        amountIn += fee;
        if (left >= amountIn) return (amountIn, fee, most);
        amountIn = left;
        fee = (left * rate + 1e18 - 1) / 1e18;
        out = swapForY ? mulDiv(left - fee, price, 2 ** 128, false) : mulDiv(left - fee, 2 ** 128, price, false);
        if (out > most) out = most;
    }

    function isEmpty(uint24 id, bool swapForY) private view returns (bool) {
        return (swapForY ? bins[id].y : bins[id].x) == 0;
    }

    function nextBin(uint24 id, bool swapForY) private view returns (uint24) {
        for (uint256 tries = 0; tries < 400; tries++) {
            id = swapForY ? id - 1 : id + 1;
            if (!isEmpty(id, swapForY)) return id;
        }
        revert("out of liquidity");
    }

    function getSwapOut(uint128 amountIn, bool swapForY) external view returns (uint256 left, uint256 out, uint256 fee) {
        uint24 id = getActiveId;
        Volatility memory v = updated(getVariableFeeParameters, id);
        left = amountIn;
        while (true) {
            if (!isEmpty(id, swapForY)) {
                v = accumulated(v, id);
                (uint256 partIn, uint256 partFee, uint256 partOut) = trade(v, swapForY, id, left);
                (left, out, fee) = (left - partIn, out + partOut, fee + partFee);
            }
            if (left == 0) return (left, out, fee);
            id = nextBin(id, swapForY);
        }
    }

    function side(bool isX, uint256 amount) private pure returns (Both memory) {
        return isX ? Both(amount, 0) : Both(0, amount);
    }

    function swap(bool swapForY, address to) external {
        Token tokenIn = swapForY ? getTokenX : getTokenY;
        uint256 left = tokenIn.balanceOf(address(this)) - (swapForY ? held.x : held.y);
        require(left > 0, "in");
        held = plus(held, side(swapForY, left));
        uint24 id = getActiveId;
        Volatility memory v = updated(getVariableFeeParameters, id);
        uint256 out;
        while (true) {
            if (!isEmpty(id, swapForY)) {
                v = accumulated(v, id);
                uint256 partOut;
                (left, partOut) = swapBin(v, swapForY, id, left, to);
                out += partOut;
            }
            if (left == 0) break;
            id = nextBin(id, swapForY);
        }
        require(out > 0, "out");
        held = minus(held, side(!swapForY, out));
        (getActiveId, getVariableFeeParameters) = (id, v);
        (swapForY ? getTokenY : getTokenX).transfer(to, out);
    }

    function swapBin(Volatility memory v, bool swapForY, uint24 id, uint256 left, address to)
        private
        returns (uint256, uint256)
    {
        (uint256 amountIn, uint256 fee, uint256 out) = trade(v, swapForY, id, left);
        if (amountIn == 0) return (left, 0);
        settle(v.accumulator, id, to, side(swapForY, amountIn), side(!swapForY, out), side(swapForY, fee));
        return (left - amountIn, out);
    }

    function settle(uint24 accumulator, uint24 id, address to, Both memory paid, Both memory out, Both memory fee)
        private
    {
        Both memory forProtocol = partOf(fee);
        protocolFees = plus(protocolFees, forProtocol);
        Both memory stays = minus(paid, forProtocol);
        bins[id] = minus(plus(bins[id], stays), out);
        emit Swap(msg.sender, to, id, pack(stays), pack(out), accumulator, pack(fee), pack(forProtocol));
    }

    /// The protocol's part of a fee.
    function partOf(Both memory fee) private view returns (Both memory) {
        uint256 share = getStaticFeeParameters.protocolShare;
        return Both((fee.x * share) / 10000, (fee.y * share) / 10000);
    }

    function value(Both memory both, uint256 price) private pure returns (uint256) {
        return price * both.x + (both.y << 128);
    }

    function mint(address to, uint256[] calldata ids, Both[] calldata amounts) external {
        bytes32[] memory reached = new bytes32[](ids.length);
        uint256[] memory shares = new uint256[](ids.length);
        Both memory sum;
        for (uint256 i = 0; i < ids.length; i++) {
            (shares[i], reached[i]) = mintBin(uint24(ids[i]), amounts[i]);
            sum = plus(sum, amounts[i]);
            totalSupply[ids[i]] += shares[i];
            balanceOf[to][ids[i]] += shares[i];
        }
        held = plus(held, sum);
        require(getTokenX.balanceOf(address(this)) >= held.x && getTokenY.balanceOf(address(this)) >= held.y);
        emit TransferBatch(msg.sender, address(0), to, ids, shares);
        emit DepositedToBins(msg.sender, to, ids, reached);
    }

    function mintBin(uint24 id, Both memory amounts) private returns (uint256 shares, bytes32) {
        require(id == getActiveId || (id < getActiveId ? amounts.x : amounts.y) == 0, "side");
        uint256 price = getPriceFromId(id);
        Both memory bin = bins[id];
        uint256 supply = totalSupply[id];
        Both memory toBin = amounts;
        if (supply == 0) {
            shares = root(value(amounts, price));
        } else {
            shares = mulDiv(value(amounts, price), supply, value(bin, price), false);
            if (id == getActiveId) {
                Volatility memory v = accumulated(updated(getVariableFeeParameters, id), id);
                Both memory fee = compositionFee(v, plus(bin, amounts), amounts, shares, supply + shares);
                if (fee.x + fee.y > 0) {
                    Both memory forProtocol = partOf(fee);
                    toBin = minus(amounts, forProtocol);
                    protocolFees = plus(protocolFees, forProtocol);
                    shares = mulDiv(
                        value(minus(amounts, fee), price),
                        supply,
                        value(plus(bin, minus(fee, forProtocol)), price),
                        false
                    );
                    getVariableFeeParameters = v;
                    emit CompositionFees(msg.sender, id, pack(fee), pack(forProtocol));
                }
            }
        }
        require(shares > 0, "shares");
        bins[id] = plus(bin, toBin);
        return (shares, pack(toBin));
    }

    /// The fee for the part of the amounts that a deposit swaps within the active bin.
    function compositionFee(Volatility memory v, Both memory bin, Both memory amounts, uint256 shares, uint256 supply)
        private
        view
        returns (Both memory fee)
    {
        uint256 x = mulDiv(shares, bin.x, supply, false);
        uint256 y = mulDiv(shares, bin.y, supply, false);
        uint256 rate = totalFee(v);
        if (x > amounts.x) fee.y = ((amounts.y - y) * rate * (rate + 1e18)) / 1e36;
        else if (y > amounts.y) fee.x = ((amounts.x - x) * rate * (rate + 1e18)) / 1e36;
    }

    function batchTransferFrom(address from, address to, uint256[] calldata ids, uint256[] calldata shares) external {
        for (uint256 i = 0; i < ids.length; i++) {
            balanceOf[from][ids[i]] -= shares[i];
            balanceOf[to][ids[i]] += shares[i];
        }
        emit TransferBatch(msg.sender, from, to, ids, shares);
    }

    function burn(address from, address to, uint256[] calldata ids, uint256[] calldata shares)
        external
        returns (bytes32[] memory amounts)
    {
        amounts = new bytes32[](ids.length);
        Both memory sum;
        for (uint256 i = 0; i < ids.length; i++) {
            Both memory bin = bins[ids[i]];
            uint256 supply = totalSupply[ids[i]];
            Both memory out = Both(mulDiv(shares[i], bin.x, supply, false), mulDiv(shares[i], bin.y, supply, false));
            bins[ids[i]] = minus(bin, out);
            totalSupply[ids[i]] = supply - shares[i];
            balanceOf[from][ids[i]] -= shares[i];
            sum = plus(sum, out);
            amounts[i] = pack(out);
        }
        held = minus(held, sum);
        emit TransferBatch(msg.sender, from, address(0), ids, shares);
        emit WithdrawnFromBins(msg.sender, to, ids, amounts);
        if (sum.x > 0) getTokenX.transfer(to, sum.x);
        if (sum.y > 0) getTokenY.transfer(to, sum.y);
    }

    /// Version 2.2 gives the whole fee to the protocol.
    function flashLoan(Trader receiver, Both calldata amounts) external {
        Both memory before = held;
        if (amounts.x > 0) getTokenX.transfer(address(receiver), amounts.x);
        if (amounts.y > 0) getTokenY.transfer(address(receiver), amounts.y);
        receiver.repay(amounts);
        held = Both(getTokenX.balanceOf(address(this)), getTokenY.balanceOf(address(this)));
        Both memory fee = minus(held, before);
        bool isShared = !getFactory.second() && totalSupply[getActiveId] > 0;
        Both memory forProtocol = isShared ? partOf(fee) : fee;
        protocolFees = plus(protocolFees, forProtocol);
        bins[getActiveId] = plus(bins[getActiveId], minus(fee, forProtocol));
        emit FlashLoan(msg.sender, address(receiver), getActiveId, pack(amounts), pack(fee), pack(forProtocol));
    }

    /// One unit of each token stays.
    function collectProtocolFees() external {
        Both memory stays = Both(protocolFees.x > 0 ? 1 : 0, protocolFees.y > 0 ? 1 : 0);
        Both memory out = minus(protocolFees, stays);
        if (out.x + out.y == 0) return;
        protocolFees = stays;
        held = minus(held, out);
        emit CollectedProtocolFees(msg.sender, pack(out));
        if (out.x > 0) getTokenX.transfer(msg.sender, out.x);
        if (out.y > 0) getTokenY.transfer(msg.sender, out.y);
    }

    function root(uint256 v) private pure returns (uint256 result) {
        result = v;
        for (uint256 next = v / 2 + 1; next < result; next = (v / result + result) / 2) result = next;
    }
}

/// Trades and provides liquidity with its own tokens, each in one transaction.
contract Trader {
    function pay(Token token, address to, uint256 amount) external {
        token.transfer(to, amount);
    }

    function swap(Pair pair, bool swapForY, uint256 amountIn) external {
        (swapForY ? pair.getTokenX() : pair.getTokenY()).transfer(address(pair), amountIn);
        pair.swap(swapForY, address(this));
    }

    function mint(Pair pair, uint256[] calldata ids, Both[] calldata amounts) external {
        Both memory sum;
        for (uint256 i = 0; i < ids.length; i++) sum = plus(sum, amounts[i]);
        pair.getTokenX().transfer(address(pair), sum.x);
        pair.getTokenY().transfer(address(pair), sum.y);
        pair.mint(address(this), ids, amounts);
    }

    /// Takes a part of the trader's shares, `part` of 1e9, out of the bins.
    function burn(Pair pair, uint256[] calldata ids, uint256 part) external {
        uint256[] memory shares = new uint256[](ids.length);
        for (uint256 i = 0; i < ids.length; i++) shares[i] = (pair.balanceOf(address(this), ids[i]) * part) / 1e9;
        pair.burn(address(this), address(this), ids, shares);
    }

    function send(Pair pair, address to, uint256[] calldata ids, uint256[] calldata shares) external {
        pair.batchTransferFrom(address(this), to, ids, shares);
    }

    function flash(Pair pair, Both calldata amounts) external {
        pair.flashLoan(this, amounts);
    }

    /// Pays a fee of 1/1,000 and two units.
    function repay(Both calldata amounts) external {
        Pair pair = Pair(msg.sender);
        pair.getTokenX().transfer(msg.sender, amounts.x + amounts.x / 1000 + 2);
        pair.getTokenY().transfer(msg.sender, amounts.y + amounts.y / 1000 + 2);
    }
}
