// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Contracts for tests: they emit the events of CryptoSwap-NG pools in the published order and follow the published formulas,
/// with Newton's method in place of the closed formulas of the deployed contracts. A `kind` selects the contract: 0 has three
/// tokens, 1 has two, 2 has two and is of 2025. Contracts from before NG: 3 has three tokens (tricrypto2), 4 has two.
interface IToken {
    function decimals() external view returns (uint8);
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// The invariant. `ann` is A·nⁿ·10,000.
library CryptoMath {
    function mean(uint256[] memory xs) internal pure returns (uint256 m) {
        for (uint256 k; k < xs.length; k++) if (xs[k] > m) m = xs[k];
        for (uint256 step; step < 255; step++) {
            uint256 part = 1e18;
            for (uint256 k; k < xs.length; k++) part = (part * xs[k]) / m;
            uint256 last = m;
            m = (m * ((xs.length - 1) * 1e18 + part)) / (xs.length * 1e18);
            if (distance(m, last) <= 1) return m;
        }
    }

    function distance(uint256 a, uint256 b) internal pure returns (uint256) {
        return a > b ? a - b : b - a;
    }

    function sum(uint256[] memory xs) internal pure returns (uint256 all) {
        for (uint256 k; k < xs.length; k++) all += xs[k];
    }

    /// K0, and the parts of Newton's method that depend on it: mul1 and g.
    function parts(uint256 ann, uint256 gamma, uint256 k0, uint256 d) private pure returns (uint256 mul1, uint256 g) {
        g = distance(gamma + 1e18, k0) + 1;
        mul1 = ((((1e18 * d) / gamma) * g) / gamma) * g * 10000 / ann;
    }

    function findD(uint256 ann, uint256 gamma, uint256[] memory xs) internal pure returns (uint256 d) {
        uint256 n = xs.length;
        uint256 s = sum(xs);
        d = n * mean(xs);
        for (uint256 step; step < 255; step++) {
            uint256 k0 = 1e18;
            for (uint256 k; k < n; k++) k0 = (k0 * xs[k] * n) / d;
            (uint256 mul1, uint256 g) = parts(ann, gamma, k0, d);
            uint256 mul2 = (2e18 * n * k0) / g;
            uint256 slope = s + (s * mul2) / 1e18 + (mul1 * n) / k0 - (mul2 * d) / 1e18;
            uint256 plus = (d * (slope + s)) / slope;
            uint256 minus = (d * d) / slope;
            uint256 bend = (((d * (mul1 / slope)) / 1e18) * distance(1e18, k0)) / k0;
            minus = k0 < 1e18 ? minus + bend : minus - bend;
            uint256 last = d;
            d = plus > minus ? plus - minus : (minus - plus) / 2;
            if (distance(d, last) * 1e14 < (d > 1e16 ? d : 1e16)) return d;
        }
        revert("D");
    }

    /// The balance j with which D stays, without looking at xs[j].
    function findY(uint256 ann, uint256 gamma, uint256[] memory xs, uint256 j, uint256 d) internal pure returns (uint256 y) {
        uint256 n = xs.length;
        (uint256 partK0, uint256 others) = (1e18, 0);
        y = d / n;
        for (uint256 k; k < n; k++) {
            if (k == j) continue;
            y = (y * d) / (xs[k] * n);
            others += xs[k];
            partK0 = (partK0 * xs[k] * n) / d;
        }
        for (uint256 step; step < 255; step++) {
            uint256 last = y;
            (uint256 next, bool isOff) = stepY(ann, gamma, (partK0 * y * n) / d, others + y, y, d);
            y = next;
            if (!isOff && distance(y, last) < (d / 1e14 > 100 ? d / 1e14 : 100)) return y;
        }
        revert("y");
    }

    function stepY(uint256 ann, uint256 gamma, uint256 k0, uint256 s, uint256 y, uint256 d) private pure returns (uint256, bool) {
        (uint256 mul1, uint256 g) = parts(ann, gamma, k0, d);
        uint256 mul2 = 1e18 + (2e18 * k0) / g;
        uint256 slope = 1e18 * y + s * mul2 + mul1;
        if (slope < d * mul2) return (y / 2, true);
        slope -= d * mul2;
        uint256 perY = slope / y;
        uint256 minus = mul1 / perY;
        uint256 plus = (slope + 1e18 * d) / perY + (minus * 1e18) / k0;
        minus += (1e18 * s) / perY;
        return plus < minus ? (y / 2, false) : (plus - minus, false);
    }

    /// Price of token k in the first one, both at the price scale.
    function priceOf(uint256 ann, uint256 gamma, uint256[] memory xs, uint256 d, uint256 k) internal pure returns (uint256) {
        uint256 k0 = 1e36;
        for (uint256 i; i < xs.length; i++) k0 = (k0 * xs.length * xs[i]) / d;
        uint256 gk0 = (((2 * k0 * k0) / 1e36) * k0) / 1e36 + (gamma + 1e18) ** 2;
        gk0 -= (((k0 * k0) / 1e36) * (2 * gamma + 3e18)) / 1e18;
        uint256 c = (ann * gamma * gamma) / 10000;
        uint256 below = gk0 + (((c * xs[0]) / d) * k0) / 1e36;
        return ((xs[0] * (gk0 + (((c * xs[k]) / d) * k0) / 1e36)) / xs[k]) * 1e18 / below;
    }

    /// e^(−t/1e18) with 18 decimals.
    function decay(uint256 t) internal pure returns (uint256) {
        if (t > 40e18) return 0;
        (uint256 total, uint256 term) = (1e18, 1e18);
        for (uint256 k = 1; k < 12; k++) {
            term = (term * (t / 64)) / 1e18 / k;
            total += term;
        }
        for (uint256 k; k < 6; k++) total = (total * total) / 1e18;
        return 1e36 / total;
    }

    function sqrt(uint256 v) internal pure returns (uint256 x) {
        if (v == 0) return 0;
        x = v;
        for (uint256 y = v / 2 + 1; y < x; y = (x + v / x) / 2) x = y;
    }
}

struct Plan {
    uint8 kind;
    address[] coins;
    uint256 ann;
    uint256 gamma;
    uint256[3] fees;
    /// allowed_extra_profit, adjustment_step, ma_time.
    uint256[3] rebalancing;
    uint256[] prices;
}

/// The LP tokens of a pool from before NG.
contract ShareToken {
    address private immutable minter = msg.sender;
    string public constant name = "Crypto-LP";
    string public constant symbol = "Crypto-LP";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 amount);

    function move(address from, address to, uint256 amount) external {
        require(msg.sender == minter);
        if (from == address(0)) totalSupply += amount;
        else balanceOf[from] -= amount;
        if (to == address(0)) totalSupply -= amount;
        else balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }
}

contract CryptoPool {
    uint8 private immutable kind;
    address private immutable feeReceiver = msg.sender;
    address[] public coins;
    uint256[] private units;
    uint256[] public balances;
    uint256[] private scale;
    uint256[] private oracle;
    uint256[] private last;
    uint256 public mid_fee;
    uint256 public out_fee;
    uint256 public fee_gamma;
    uint256[3] private rebalancing;
    uint256 public initial_A_gamma;
    uint256 public future_A_gamma;
    uint256 public initial_A_gamma_time;
    uint256 public future_A_gamma_time;
    uint256 private lastTime = block.timestamp;
    uint256 private lastClaim;
    uint256 public D;
    uint256 private virtualPrice;
    uint256 private profit;
    uint256 private claimedProfit = 1e18;
    uint256 private ownerShares;
    uint256 private supplied;
    bool private notAdjusted;
    ShareToken private shares_;
    string public constant name = "Crypto-LP";
    string public constant symbol = "Crypto-LP";
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 amount);
    event NewParameters(uint256, uint256, uint256, uint256, uint256, uint256);
    event NewParameters(uint256, uint256, uint256, uint256, uint256, uint256, uint256);
    event RampAgamma(uint256, uint256, uint256, uint256, uint256, uint256);
    event StopRampA(uint256, uint256, uint256);

    constructor(Plan memory plan) {
        (kind, coins, scale, oracle, last) = (plan.kind, plan.coins, plan.prices, plan.prices, plan.prices);
        (mid_fee, out_fee, fee_gamma) = (plan.fees[0], plan.fees[1], plan.fees[2]);
        rebalancing = plan.rebalancing;
        initial_A_gamma = future_A_gamma = pack(plan.ann, plan.gamma);
        for (uint256 k; k < plan.coins.length; k++) {
            units.push(10 ** (18 - IToken(plan.coins[k]).decimals()));
            balances.push(0);
        }
        if (isOld()) shares_ = new ShareToken();
        else emit Transfer(address(0), address(this), 0);
    }

    function isOld() private view returns (bool) {
        return kind > 2;
    }

    function token() external view returns (address) {
        require(isOld());
        return address(shares_);
    }

    function totalSupply() external view returns (uint256) {
        require(!isOld());
        return supplied;
    }

    function pack(uint256 ann, uint256 gamma) private pure returns (uint256) {
        return (ann << 128) | gamma;
    }

    function precisions() external view {
        require(!isOld());
        answer(abi.encodePacked(units));
    }

    function answer(bytes memory words) private pure {
        assembly {
            return(add(words, 32), mload(words))
        }
    }

    function price_scale() external view returns (uint256) {
        require(scale.length == 1);
        return scale[0];
    }

    function price_scale(uint256 k) external view returns (uint256) {
        require(scale.length == 2);
        return scale[k];
    }

    function last_timestamp() external view returns (uint256) {
        require(kind == 1 || kind == 2);
        return lastTime;
    }

    function last_prices_timestamp() external view returns (uint256) {
        require(kind == 0 || isOld());
        return lastTime;
    }

    function isRamping() private view returns (bool) {
        return block.timestamp < future_A_gamma_time;
    }

    function shape() public view returns (uint256 ann, uint256 gamma) {
        (ann, gamma) = (future_A_gamma >> 128, uint128(future_A_gamma));
        if (!isRamping()) return (ann, gamma);
        uint256 span = future_A_gamma_time - initial_A_gamma_time;
        uint256 passed = block.timestamp - initial_A_gamma_time;
        ann = ((initial_A_gamma >> 128) * (span - passed) + ann * passed) / span;
        gamma = (uint256(uint128(initial_A_gamma)) * (span - passed) + gamma * passed) / span;
    }

    function scaled(uint256[] memory raw) private view returns (uint256[] memory xp) {
        xp = new uint256[](raw.length);
        for (uint256 k; k < raw.length; k++) xp[k] = (raw[k] * unitOf(k)) / 1e18;
    }

    function unitOf(uint256 k) private view returns (uint256) {
        return units[k] * (k == 0 ? 1e18 : scale[k - 1]);
    }

    function findD(uint256[] memory xp) private view returns (uint256) {
        (uint256 ann, uint256 gamma) = shape();
        return CryptoMath.findD(ann, gamma, xp);
    }

    /// The balance j of the curve with this D.
    function curveY(uint256 j, uint256[] memory xp, uint256 d) public view returns (uint256) {
        (uint256 ann, uint256 gamma) = shape();
        return CryptoMath.findY(ann, gamma, xp, j, d);
    }

    /// The D of the next trade.
    function currentD() public view returns (uint256) {
        return (isOld() ? future_A_gamma_time > 0 : isRamping()) ? findD(scaled(balances)) : D;
    }

    function fee() external view returns (uint256) {
        return feeAt(scaled(balances));
    }

    function feeAt(uint256[] memory xp) private view returns (uint256) {
        uint256 s = CryptoMath.sum(xp);
        uint256 part = 1e18;
        for (uint256 k; k < xp.length; k++) part = (part * xp.length * xp[k]) / s;
        if (kind == 2) part = (fee_gamma * part) / ((fee_gamma * part) / 1e18 + 1e18 - part);
        else part = (fee_gamma * 1e18) / (fee_gamma + 1e18 - part);
        return (mid_fee * part + out_fee * (1e18 - part)) / 1e18;
    }

    /// Amount out before the fee, the fee in units of 1e-10.
    function quote(uint256 i, uint256 j, uint256 dx, uint256 d) private view returns (uint256 gross, uint256 rate) {
        uint256[] memory raw = balances;
        raw[i] += dx;
        uint256[] memory xp = scaled(raw);
        uint256 y = curveY(j, xp, d);
        gross = ((xp[j] - y - 1) * 1e18) / unitOf(j);
        xp[j] = y;
        rate = feeAt(xp);
    }

    function get_dy(uint256 i, uint256 j, uint256 dx) external view returns (uint256) {
        (uint256 gross, uint256 rate) = quote(i, j, dx, currentD());
        return gross - (rate * gross) / 1e10;
    }

    function exchange(uint256 i, uint256 j, uint256 dx) external {
        D = currentD();
        endRamp();
        (uint256 gross, uint256 rate) = quote(i, j, dx, D);
        uint256 taken = (rate * gross) / 1e10;
        take(i, dx);
        give(j, gross - taken, msg.sender);
        uint256[] memory xp = scaled(balances);
        tweak(xp, findD(xp));
        if (isOld())
            return report(
                "TokenExchange(address,uint256,uint256,uint256,uint256)",
                abi.encode(i, dx, j, gross - taken)
            );
        report(
            "TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)",
            abi.encode(i, dx, j, gross - taken, taken, packed())
        );
    }

    /// A contract from before NG computes D anew until its first use after a ramp.
    function endRamp() private {
        if (isOld() && block.timestamp >= future_A_gamma_time) future_A_gamma_time = 0;
    }

    function add_liquidity(uint256[] calldata amounts) external {
        (uint256[] memory before, uint256 d0) = (scaled(balances), supplied > 0 ? currentD() : 0);
        endRamp();
        for (uint256 k; k < amounts.length; k++) take(k, amounts[k]);
        uint256[] memory xp = scaled(balances);
        (uint256 d, uint256 kept) = (findD(xp), 0);
        uint256 named;
        if (d0 > 0) {
            uint256 minted = (supplied * d) / d0 - supplied;
            for (uint256 k; k < amounts.length; k++) before[k] = xp[k] - before[k];
            kept = (unevenFee(before, xp) * minted) / 1e10 + 1;
            mint(msg.sender, minted - kept);
            if (kind == 1 || kind == 2) ownerShares += kept / 2;
            named = supplied;
            tweak(xp, d);
        } else {
            (D, virtualPrice, profit, claimedProfit) = (d, 1e18, 1e18, 1e18);
            mint(msg.sender, xcp(d, scale));
        }
        if (isOld()) {
            string memory old = kind == 3
                ? "AddLiquidity(address,uint256[3],uint256,uint256)"
                : "AddLiquidity(address,uint256[2],uint256,uint256)";
            // Not counted: fees of the owner that are minted here, and the LP tokens of the first deposit.
            return report(old, abi.encodePacked(amounts, kept, named));
        }
        string memory signature = kind == 0
            ? "AddLiquidity(address,uint256[3],uint256,uint256,uint256)"
            : "AddLiquidity(address,uint256[2],uint256,uint256,uint256)";
        report(signature, abi.encodePacked(amounts, kept, supplied, packed()));
        if (kind == 0) claim();
    }

    function unevenFee(uint256[] memory moved, uint256[] memory xp) private view returns (uint256) {
        uint256 n = xp.length;
        (uint256 s, uint256 off) = (CryptoMath.sum(moved), 0);
        for (uint256 k; k < n; k++) off += CryptoMath.distance(moved[k], s / n);
        return (((feeAt(xp) * n) / (4 * (n - 1))) * off) / s + 1e5;
    }

    function remove_liquidity(uint256 shares) external {
        if (kind == 0) claim();
        uint256 total = supplied;
        uint256 counted = shares == total && !isOld() ? shares : shares - 1;
        burn(shares);
        uint256[] memory amounts = new uint256[](coins.length);
        for (uint256 k; k < amounts.length; k++) {
            amounts[k] = (balances[k] * counted) / total;
            give(k, amounts[k], msg.sender);
        }
        D -= (D * counted) / total;
        string memory signature = amounts.length == 3
            ? "RemoveLiquidity(address,uint256[3],uint256)"
            : "RemoveLiquidity(address,uint256[2],uint256)";
        report(signature, abi.encodePacked(amounts, supplied));
    }

    function remove_liquidity_one_coin(uint256 shares, uint256 i) external {
        if (kind == 2) return remove_liquidity_fixed_out(shares, 1 - i, 0);
        if (!isOld()) claim();
        uint256[] memory xp = scaled(balances);
        uint256 d = currentD();
        endRamp();
        uint256 off = isOld() ? 0 : (xp[i] * xp.length * shares) / supplied;
        uint256 rate = out_fee;
        if (off < xp[i]) {
            xp[i] -= off;
            rate = feeAt(xp);
            xp[i] += off;
        }
        uint256 change = (shares * d) / supplied;
        uint256 kept = (rate * change) / 2e10 + 1;
        uint256 about = (xp.length * kept * balances[i]) / d;
        d -= change - kept;
        uint256 dy = withdrawTo(xp, i, d);
        burn(shares);
        give(i, dy, msg.sender);
        tweak(xp, d);
        if (isOld())
            return report(
                "RemoveLiquidityOne(address,uint256,uint256,uint256)",
                abi.encode(shares, i, dy)
            );
        report(
            "RemoveLiquidityOne(address,uint256,uint256,uint256,uint256,uint256)",
            abi.encode(shares, i, dy, about, packed())
        );
    }

    function withdrawTo(uint256[] memory xp, uint256 i, uint256 d) private view returns (uint256 dy) {
        uint256 y = curveY(i, xp, d);
        dy = ((xp[i] - y) * 1e18) / unitOf(i);
        xp[i] = y;
    }

    /// `given` is the amount of token i; the other one follows.
    function remove_liquidity_fixed_out(uint256 shares, uint256 i, uint256 given) public {
        require(kind == 2);
        claim();
        uint256[] memory xp = scaled(balances);
        uint256[] memory amounts = new uint256[](2);
        (uint256 d, uint256 j) = (currentD(), 1 - i);
        uint256 change = (shares * d) / supplied;
        amounts[i] = (given * unitOf(i)) / 1e18;
        (xp[i], amounts[j]) = (xp[i] - amounts[i], xp[j]);
        xp[j] = curveY(j, xp, d - change);
        amounts[j] -= xp[j];
        uint256 rate = unevenFee(amounts, xp);
        xp[j] += amounts[j];
        d -= change - ((change * rate) / 1e10 + 1);
        (amounts[j], amounts[i]) = (withdrawTo(xp, j, d), given);
        burn(shares);
        tweak(xp, d);
        for (uint256 k; k < 2; k++) give(k, amounts[k], msg.sender);
        report(
            "RemoveLiquidityImbalance(address,uint256,uint256[2],uint256,uint256)",
            abi.encodePacked(shares, amounts, (rate * shares) / 1e18, packed())
        );
    }

    function xcp(uint256 d, uint256[] memory prices) private pure returns (uint256) {
        uint256 n = prices.length + 1;
        uint256[] memory xs = new uint256[](n);
        xs[0] = d / n;
        for (uint256 k = 1; k < n; k++) xs[k] = (d * 1e18) / (n * prices[k - 1]);
        return CryptoMath.mean(xs);
    }

    /// Updates the moving average of the price, the profit, and the price scale, if there is enough profit for it.
    function tweak(uint256[] memory xp, uint256 d) private {
        average(xp, d);
        uint256 next = (1e18 * xcp(d, scale)) / supplied;
        profit = (profit * next) / virtualPrice;
        (D, virtualPrice) = (d, next);
        notAdjusted = notAdjusted || 2 * next > 1e18 + profit + 2 * rebalancing[0];
        if (!notAdjusted) return;
        if (moveScale(xp)) {
            if (!isOld()) notAdjusted = false;
            return;
        }
        // The contract of 2021 with two tokens pays the owner when an adjustment did not happen.
        notAdjusted = false;
        if (kind == 4) claim();
    }

    function moveScale(uint256[] memory xp) private returns (bool) {
        uint256 norm;
        for (uint256 k; k < scale.length; k++) norm += CryptoMath.distance((oracle[k] * 1e18) / scale[k], 1e18) ** 2;
        norm = CryptoMath.sqrt(norm);
        uint256 step = norm / 5 > rebalancing[1] ? norm / 5 : rebalancing[1];
        if (norm <= step) return false;
        uint256[] memory prices = new uint256[](scale.length);
        for (uint256 k; k < scale.length; k++) {
            prices[k] = (scale[k] * (norm - step) + step * oracle[k]) / norm;
            xp[k + 1] = (xp[k + 1] * prices[k]) / scale[k];
        }
        uint256 d = findD(xp);
        uint256 next = (1e18 * xcp(d, prices)) / supplied;
        if (next <= 1e18 || 2 * next <= 1e18 + profit) return false;
        (D, virtualPrice, scale) = (d, next, prices);
        return true;
    }

    function average(uint256[] memory xp, uint256 d) private {
        (uint256 ann, uint256 gamma) = shape();
        uint256 alpha = CryptoMath.decay(((block.timestamp - lastTime) * 1e18) / rebalancing[2]);
        for (uint256 k; k < scale.length; k++) {
            uint256 capped = last[k] < 2 * scale[k] ? last[k] : 2 * scale[k];
            oracle[k] = (capped * (1e18 - alpha) + oracle[k] * alpha) / 1e18;
            last[k] = (CryptoMath.priceOf(ann, gamma, xp, d, k + 1) * scale[k]) / 1e18;
        }
        lastTime = block.timestamp;
    }

    /// Pays the owner's part of the profit: as LP tokens with three tokens, otherwise at most once in ten minutes as tokens.
    function claim() private {
        bool isMinted = kind == 0 || isOld();
        bool isDue = isMinted || (block.timestamp >= lastClaim + 600 && !isRamping());
        if (!isDue || profit <= claimedProfit || supplied < 1e18) return;
        uint256 fees = (profit - claimedProfit) / 4;
        if (fees == 0) return;
        uint256 frac = (virtualPrice * 1e18) / (virtualPrice - fees) - 1e18;
        uint256 shares = (supplied * frac) / 1e18;
        profit -= fees * 2;
        if (isMinted) {
            for (uint256 k; k < coins.length; k++) balances[k] = IToken(coins[k]).balanceOf(address(this));
            mint(feeReceiver, shares);
            log2("ClaimAdminFee(address,uint256)", feeReceiver, abi.encode(shares));
            D = findD(scaled(balances));
            virtualPrice = (1e18 * xcp(D, scale)) / supplied;
            claimedProfit = profit;
            return;
        }
        shares += ownerShares;
        uint256 total = supplied + shares;
        virtualPrice = (1e18 * xcp(D, scale)) / total;
        (ownerShares, lastClaim) = (0, block.timestamp);
        if (profit > claimedProfit) claimedProfit = profit;
        D -= (D * shares) / total;
        uint256[] memory amounts = new uint256[](2);
        for (uint256 k; k < 2; k++) {
            amounts[k] = (balances[k] * shares) / total;
            give(k, amounts[k], feeReceiver);
        }
        log2("ClaimAdminFee(address,uint256[2])", feeReceiver, abi.encodePacked(amounts));
    }

    function packed() private view returns (uint256) {
        return kind == 0 ? (scale[1] << 128) | scale[0] : scale[0];
    }

    function report(string memory signature, bytes memory words) private {
        log2(signature, msg.sender, words);
    }

    /// The contract of 2025 indexes no address.
    function log2(string memory signature, address owner, bytes memory words) private {
        bytes32 topic = keccak256(bytes(signature));
        bool isIndexed = kind != 2;
        bytes memory data = isIndexed ? words : abi.encodePacked(uint256(uint160(owner)), words);
        assembly {
            switch isIndexed
            case 0 {
                log1(add(data, 32), mload(data), topic)
            }
            default {
                log2(add(data, 32), mload(data), topic, owner)
            }
        }
    }

    function take(uint256 k, uint256 amount) private {
        balances[k] += amount;
        if (amount > 0) IToken(coins[k]).transferFrom(msg.sender, address(this), amount);
    }

    function give(uint256 k, uint256 amount, address to) private {
        balances[k] -= amount;
        IToken(coins[k]).transfer(to, amount);
    }

    function mint(address to, uint256 shares) private {
        supplied += shares;
        if (isOld()) return shares_.move(address(0), to, shares);
        balanceOf[to] += shares;
        emit Transfer(address(0), to, shares);
    }

    function burn(uint256 shares) private {
        supplied -= shares;
        if (isOld()) return shares_.move(msg.sender, address(0), shares);
        balanceOf[msg.sender] -= shares;
        emit Transfer(msg.sender, address(0), shares);
    }

    /// Changes a balance without an event.
    function disturb(uint256 k) external {
        balances[k] += balances[k] / 1000;
    }

    function setFees(uint256 mid, uint256 out, uint256 gamma) external {
        (mid_fee, out_fee, fee_gamma) = (mid, out, gamma);
        if (isOld()) emit NewParameters(5e9, mid, out, gamma, rebalancing[0], rebalancing[1], rebalancing[2]);
        else if (kind == 1) emit NewParameters(mid, out, gamma, rebalancing[0], rebalancing[1], rebalancing[2], 62324);
        else emit NewParameters(mid, out, gamma, rebalancing[0], rebalancing[1], rebalancing[2]);
    }

    function claim_admin_fees() external {
        claim();
    }

    function ramp(uint256 ann, uint256 gamma, uint256 span) external {
        (uint256 fromAnn, uint256 fromGamma) = shape();
        (initial_A_gamma, future_A_gamma) = (pack(fromAnn, fromGamma), pack(ann, gamma));
        (initial_A_gamma_time, future_A_gamma_time) = (block.timestamp, block.timestamp + span);
        emit RampAgamma(fromAnn, ann, fromGamma, gamma, block.timestamp, block.timestamp + span);
    }

    function stopRamp() external {
        (uint256 ann, uint256 gamma) = shape();
        initial_A_gamma = future_A_gamma = pack(ann, gamma);
        initial_A_gamma_time = future_A_gamma_time = block.timestamp;
        emit StopRampA(ann, gamma, block.timestamp);
    }
}

contract CryptoFactory {
    mapping(address => address[]) private coinsOf;
    address public latest;

    event TwocryptoPoolDeployed(
        address pool, string name, string symbol, address[2] coins, address math, bytes32 salt, uint256[2] precisions,
        uint256 A_gamma, uint256 fees, uint256 rebalancing, uint256 prices, address deployer
    );
    event TricryptoPoolDeployed(
        address pool, string name, string symbol, address weth, address[3] coins, address math, bytes32 salt,
        uint256 precisions, uint256 A_gamma, uint256 fees, uint256 rebalancing, uint256 prices, address deployer
    );

    function deploy_pool(Plan memory plan) external {
        latest = address(new CryptoPool(plan));
        coinsOf[latest] = plan.coins;
        address[] memory c = plan.coins;
        if (plan.kind == 0)
            emit TricryptoPoolDeployed(
                latest, "Tri", "TRI", address(0), [c[0], c[1], c[2]], address(0), 0, 0, 0, 0, 0, 0, msg.sender
            );
        else
            emit TwocryptoPoolDeployed(
                latest, "A name of more than thirty-two bytes", "TWO", [c[0], c[1]], address(0), 0, [uint256(0), 0], 0, 0, 0, 0,
                msg.sender
            );
    }

    /// As many words as the pool has tokens; zeros for another contract.
    function get_coins(address pool) external view {
        bytes memory words = abi.encodePacked(coinsOf[pool].length == 0 ? new address[](2) : coinsOf[pool]);
        assembly {
            return(add(words, 32), mload(words))
        }
    }
}

/// The factory of 2021, whose event does not name the pool, or a registry, which adds pools later.
contract OldCryptoFactory {
    bool private immutable isRegistry;
    mapping(address => address[]) private coinsOf;
    address public latest;

    event CryptoPoolDeployed(
        address token, address[2] coins, uint256 A, uint256 gamma, uint256 mid_fee, uint256 out_fee, uint256 allowed_extra_profit,
        uint256 fee_gamma, uint256 adjustment_step, uint256 admin_fee, uint256 ma_half_time, uint256 initial_price,
        address deployer
    );
    event PoolAdded(address indexed pool);

    constructor(bool isRegistry_) {
        isRegistry = isRegistry_;
    }

    function deploy_pool(Plan memory plan) external {
        CryptoPool pool = new CryptoPool(plan);
        latest = address(pool);
        if (isRegistry) return;
        coinsOf[latest] = plan.coins;
        emit CryptoPoolDeployed(
            pool.token(), [plan.coins[0], plan.coins[1]], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, msg.sender
        );
    }

    function add_pool(CryptoPool pool, uint256 count) external {
        for (uint256 k; k < count; k++) coinsOf[address(pool)].push(pool.coins(k));
        emit PoolAdded(address(pool));
    }

    /// A list of a fixed size; zeros for another contract.
    function get_coins(address pool) external view {
        uint256[] memory list = new uint256[](isRegistry ? 8 : 2);
        for (uint256 k; k < coinsOf[pool].length; k++) list[k] = uint160(coinsOf[pool][k]);
        answer(list);
    }

    function get_decimals(address pool) external view {
        uint256[] memory list = new uint256[](isRegistry ? 8 : 2);
        for (uint256 k; k < coinsOf[pool].length; k++) list[k] = IToken(coinsOf[pool][k]).decimals();
        answer(list);
    }

    function answer(uint256[] memory list) private pure {
        assembly {
            return(add(list, 32), mul(mload(list), 32))
        }
    }
}
