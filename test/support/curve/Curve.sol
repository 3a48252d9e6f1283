// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Contracts for tests: they emit the events of StableSwap pools in the published order and follow the published formulas.
/// `Kind` selects the contract: Pancake's port, which PulseX uses, Curve's StableSwap-NG, the first contracts of Curve such as
/// 3pool, those of its factory of 2021, those that count what they hold (stETH, Aave), meta pools of the registry, and the
/// oldest contracts: without a ramp of A (Compound, USDT, Y, BUSD, sUSD), that of PAX, and that of renBTC.
enum Kind {
    Pancake,
    Ng,
    Registry,
    Factory,
    Held,
    Cached,
    Fixed,
    Pax,
    Ren
}

address constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

function placesOf(address coin) view returns (uint8) {
    return coin == NATIVE ? 18 : Token(coin).decimals();
}

contract Token {
    string public symbol;
    string public name;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    address public immutable minter = msg.sender;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    /// The rate of an oracle at `ratedAt`, and its growth per second.
    uint256 private firstRate = 1e18;
    uint256 private growth;
    uint256 private ratedAt;

    event Transfer(address indexed from, address indexed to, uint256 amount);

    constructor(string memory symbol_, uint8 decimals_, uint256 supply, address owner) {
        (symbol, name, decimals) = (symbol_, symbol_, decimals_);
        if (supply > 0) add(owner, supply);
    }

    function setRate(uint256 rate_, uint256 growth_) external {
        (firstRate, growth, ratedAt) = (rate_, growth_, block.timestamp);
    }

    function rate() external view returns (uint256) {
        return firstRate + growth * (block.timestamp - ratedAt);
    }

    /// Adds to a balance without an event, as a rebase.
    function grow(address holder, uint256 amount) external {
        balanceOf[holder] += amount;
        totalSupply += amount;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return move(from, to, amount);
    }

    function mint(address to, uint256 amount) external {
        require(msg.sender == minter);
        add(to, amount);
    }

    function burn(address from, uint256 amount) external {
        require(msg.sender == minter);
        totalSupply -= amount;
        balanceOf[from] -= amount;
        emit Transfer(from, address(0), amount);
    }

    function add(address to, uint256 amount) internal {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function move(address from, address to, uint256 amount) private returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        return true;
    }
}

/// A token of Compound: a part of what it holds and lends, with interest from block to block (CToken.sol).
contract CToken is Token {
    Token public immutable underlying;
    bool public constant isCompound = true;
    uint256 public accrualBlockNumber = block.number;
    uint256 private borrows;
    uint256 private reserves;
    uint256 private borrowRate;
    uint256 private constant RESERVE_FACTOR = 15e16;

    constructor(Token underlying_) Token("cToken", 8, 0, address(0)) {
        underlying = underlying_;
    }

    /// Borrows, and sets the interest of all borrowers.
    function borrow(uint256 amount, uint256 rate_) external {
        accrue();
        (borrowRate, borrows) = (rate_, borrows + amount);
        underlying.transfer(msg.sender, amount);
    }

    function accrue() public {
        uint256 interest = (borrowRate * (block.number - accrualBlockNumber) * borrows) / 1e18;
        accrualBlockNumber = block.number;
        (borrows, reserves) = (borrows + interest, reserves + (interest * RESERVE_FACTOR) / 1e18);
    }

    function net() private view returns (uint256) {
        return underlying.balanceOf(address(this)) + borrows - reserves;
    }

    function exchangeRateStored() public view returns (uint256) {
        return totalSupply == 0 ? 2 * 10 ** (uint256(underlying.decimals()) + 8) : (net() * 1e18) / totalSupply;
    }

    function exchangeRateCurrent() external returns (uint256) {
        accrue();
        return exchangeRateStored();
    }

    function supplyRatePerBlock() external view returns (uint256) {
        return (((borrowRate * borrows) / net()) * (1e18 - RESERVE_FACTOR)) / 1e18;
    }

    function mint(uint256 amount) external returns (uint256) {
        accrue();
        uint256 minted = (amount * 1e18) / exchangeRateStored();
        underlying.transferFrom(msg.sender, address(this), amount);
        (totalSupply, balanceOf[msg.sender]) = (totalSupply + minted, balanceOf[msg.sender] + minted);
        emit Transfer(address(this), msg.sender, minted);
        return 0;
    }

    function redeem(uint256 amount) external returns (uint256) {
        accrue();
        uint256 paid = (amount * exchangeRateStored()) / 1e18;
        (totalSupply, balanceOf[msg.sender]) = (totalSupply - amount, balanceOf[msg.sender] - amount);
        underlying.transfer(msg.sender, paid);
        emit Transfer(msg.sender, address(this), amount);
        return 0;
    }
}

/// A yToken: a part of what it holds, of its own token and of a cToken at the stored rate (yUSDT of iearn).
contract YToken is Token {
    Token public immutable underlying;
    CToken private immutable lender;
    bool public constant isCompound = false;

    constructor(CToken lender_) Token("yToken", lender_.underlying().decimals(), 0, address(0)) {
        (lender, underlying) = (lender_, lender_.underlying());
        underlying.approve(address(lender), type(uint256).max);
    }

    function lentOut() private view returns (uint256) {
        return (lender.balanceOf(address(this)) * lender.exchangeRateStored()) / 1e18;
    }

    function value() private view returns (uint256) {
        return lentOut() + underlying.balanceOf(address(this));
    }

    function getPricePerFullShare() external view returns (uint256) {
        return (value() * 1e18) / totalSupply;
    }

    function deposit(uint256 amount) external {
        uint256 shares = totalSupply == 0 ? amount : (amount * totalSupply) / value();
        underlying.transferFrom(msg.sender, address(this), amount);
        add(msg.sender, shares);
    }

    function withdraw(uint256 shares) external {
        uint256 paid = (value() * shares) / totalSupply;
        (totalSupply, balanceOf[msg.sender]) = (totalSupply - shares, balanceOf[msg.sender] - shares);
        emit Transfer(msg.sender, address(0), shares);
        uint256 held = underlying.balanceOf(address(this));
        if (held < paid) lender.redeem((lender.balanceOf(address(this)) * (paid - held)) / lentOut() + 1);
        underlying.transfer(msg.sender, paid);
    }

    /// Lends a part of what it holds.
    function rebalance(uint256 amount) external {
        lender.mint(amount);
    }
}

/// renBTC tells how many bitcoins it is worth.
contract RenToken is Token {
    uint256 public constant exchangeRateCurrent = 1e18;

    constructor(uint256 supply, address owner) Token("renBTC", 8, supply, owner) {}
}

/// How a contract counts A, divides, and ends without convergence.
struct Style {
    uint256 unit;
    bool once;
    bool reverts;
    /// Added to each divisor of D.
    uint256 plus;
}

/// The invariant. `unit` is the factor of A.
library Curve {
    function findD(uint256[] memory xp, uint256 amp, Style memory style) internal pure returns (uint256) {
        (uint256 n, uint256 unit, uint256 sum) = (xp.length, style.unit, 0);
        for (uint256 k; k < n; k++) sum += xp[k];
        uint256 d = sum;
        for (uint256 step; step < 255 && sum > 0; step++) {
            uint256 part = d;
            for (uint256 k; k < n; k++) part = (part * d) / (style.once ? xp[k] : xp[k] * n + style.plus);
            if (style.once) part /= n ** n;
            uint256 last = d;
            uint256 above = ((amp * n * sum) / unit + part * n) * d;
            d = above / (((amp * n - unit) * d) / unit + (n + 1) * part);
            if (near(d, last)) return d;
        }
        require(!style.reverts || sum == 0, "D");
        return d;
    }

    /// The balance j with which D stays, without looking at xp[j].
    function findY(
        uint256[] memory xp,
        uint256 j,
        uint256 amp,
        uint256 unit,
        uint256 d
    ) internal pure returns (uint256 y) {
        uint256 n = xp.length;
        (uint256 c, uint256 b) = (d, (d * unit) / (amp * n));
        for (uint256 k; k < n; k++) {
            if (k == j) continue;
            b += xp[k];
            c = (c * d) / (xp[k] * n);
        }
        c = (c * d * unit) / (amp * n * n);
        y = d;
        for (uint256 step; step < 255; step++) {
            uint256 last = y;
            y = (y * y + c) / (2 * y + b - d);
            if (near(y, last)) return y;
        }
    }

    function near(uint256 a, uint256 b) private pure returns (bool) {
        return a > b ? a - b <= 1 : b - a <= 1;
    }
}

/// `second` is the owner's part of the fee, or the fee factor of StableSwap-NG. `oracles` are the coins with a rate.
struct Plan {
    Kind kind;
    address[] coins;
    uint256 A;
    uint256 fee;
    uint256 second;
    bool[] oracles;
    StablePool base;
}

contract StablePool {
    Kind private immutable kind;
    StablePool private immutable base;
    Token public immutable token;
    address public immutable feeReceiver;
    address[] public coins;
    bool[] private oracles;
    uint256[] public RATES;
    uint256 public base_virtual_price;
    uint256 private cachedAt;
    uint256[] private stored;
    uint256[] public admin_balances;
    uint256 public fee;
    uint256 public admin_fee;
    uint256 private offpeg;
    uint256 private firstA;
    uint256 private nextA;
    uint256 private firstTime;
    uint256 private nextTime;
    bool private killed;
    bool private hasOracle;
    /// The part of the supply of a pool that is its own LP token.
    uint256 private ownSupply;
    mapping(address => uint256) public balanceOf;

    event OwnershipTransferred(address indexed from, address indexed to);
    event Transfer(address indexed from, address indexed to, uint256 amount);
    event TokenExchange(address indexed buyer, uint256 sold_id, uint256 sold, uint256 bought_id, uint256 bought);
    event TokenExchange(address indexed buyer, int128 sold_id, uint256 sold, int128 bought_id, uint256 bought);
    event AddLiquidity(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 d, uint256 supply);
    event AddLiquidity(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 d, uint256 supply);
    event AddLiquidity(address indexed provider, uint256[4] amounts, uint256[4] fees, uint256 d, uint256 supply);
    event AddLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[4] amounts, uint256[4] fees, uint256 supply);
    event RemoveLiquidity(address indexed provider, uint256[] amounts, uint256[] fees, uint256 supply);
    /// Pancake: index, LP tokens, amount. Factory: LP tokens, amount, supply.
    event RemoveLiquidityOne(address indexed provider, uint256 first, uint256 second, uint256 third);
    event RemoveLiquidityOne(address indexed provider, uint256 shares, uint256 amount);
    event RemoveLiquidityOne(address indexed provider, int128 id, uint256 shares, uint256 amount, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[2] amounts, uint256[2] fees, uint256 d, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[3] amounts, uint256[3] fees, uint256 d, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[4] amounts, uint256[4] fees, uint256 d, uint256 supply);
    event RemoveLiquidityImbalance(address indexed provider, uint256[] amounts, uint256[] fees, uint256 d, uint256 supply);
    event NewFee(uint256 fee, uint256 admin_fee);
    event NewFee(uint256 fee, uint256 admin_fee, uint256 offpeg_fee_multiplier);
    event ApplyNewFee(uint256 fee, uint256 offpeg_fee_multiplier);
    event ApplyNewFee(uint256 fee);
    event TokenExchangeUnderlying(address indexed buyer, int128 sold_id, uint256 sold, int128 bought_id, uint256 bought);
    event RampA(uint256 old_A, uint256 new_A, uint256 initial_time, uint256 future_time);
    event StopRampA(uint256 A, uint256 t);
    event NewParameters(uint256 A, uint256 fee, uint256 admin_fee);
    event DonateAdminFees();
    event Kill();
    event Unkill();

    constructor(Plan memory plan) {
        (kind, base, coins, oracles) = (plan.kind, plan.base, plan.coins, plan.oracles);
        (fee, feeReceiver) = (plan.fee, msg.sender);
        bool isOwn = kind == Kind.Ng || kind == Kind.Factory;
        firstA = nextA = isPrecise() ? plan.A * 100 : plan.A;
        bool hasFactor = kind == Kind.Ng || kind == Kind.Held;
        (admin_fee, offpeg) = isPrecise() ? (uint256(5e9), hasFactor ? plan.second : 0) : (plan.second, uint256(0));
        for (uint256 k; k < plan.coins.length; k++) {
            RATES.push(lends(k) ? 10 ** (18 - placesOf(address(lentCoin(k)))) : 10 ** (36 - placesOf(plan.coins[k])));
            if (lends(k)) lentCoin(k).approve(plan.coins[k], type(uint256).max);
            stored.push(0);
            admin_balances.push(0);
            if (plan.oracles[k]) hasOracle = true;
        }
        touch();
        if (address(base) != address(0))
            for (uint256 k; k < base.N_COINS(); k++) Token(base.coins(k)).approve(address(base), type(uint256).max);
        if (isOwn) emit Transfer(address(0), kind == Kind.Ng ? msg.sender : address(this), 0);
        else {
            token = new Token("Stable-LP", 18, 0, address(0));
            emit OwnershipTransferred(address(0), msg.sender);
        }
    }

    /// Functions of one kind only.
    modifier only(bool isOne) {
        require(isOne);
        _;
    }

    function style() private view returns (Style memory) {
        if (kind == Kind.Ng) return Style(100, true, true, 0);
        if (kind == Kind.Factory) return Style(100, coins.length == 2 && address(base) == address(0), true, 0);
        if (kind == Kind.Held) return Style(100, false, true, 1);
        if (kind == Kind.Cached) return Style(100, false, true, 0);
        return Style(1, false, false, kind == Kind.Fixed ? 1 : 0);
    }

    /// The oldest contracts, whose ids are int128.
    function isOldest() private view returns (bool) {
        return kind >= Kind.Fixed;
    }

    /// Whether a swap computes the new balances from those with 18 decimals.
    function isRounding() private view returns (bool) {
        return kind == Kind.Fixed || kind == Kind.Pax;
    }

    function lends(uint256 k) private view returns (bool) {
        return isRounding() && oracles[k];
    }

    function lentCoin(uint256 k) private view returns (Token) {
        return lends(k) ? CToken(coins[k]).underlying() : Token(coins[k]);
    }

    /// As the registry names them: it has none for renBTC.
    function underlying_coins(uint256 k) external view returns (address) {
        return kind == Kind.Ren && oracles[k] ? address(0) : address(lentCoin(k));
    }

    function lendingRate(uint256 k) private view returns (uint256) {
        if (!CToken(coins[k]).isCompound()) return YToken(coins[k]).getPricePerFullShare();
        CToken coin = CToken(coins[k]);
        uint256 stored_ = coin.exchangeRateStored();
        return stored_ + (stored_ * coin.supplyRatePerBlock() * (block.number - coin.accrualBlockNumber())) / 1e18;
    }

    function initial_A() external view only(kind != Kind.Fixed) returns (uint256) {
        return firstA;
    }

    function future_A() external view returns (uint256) {
        return nextA;
    }

    function initial_A_time() external view only(kind != Kind.Fixed) returns (uint256) {
        return firstTime;
    }

    function future_A_time() external view only(kind != Kind.Fixed) returns (uint256) {
        return nextTime;
    }

    function hasOwnShares() private view returns (bool) {
        return kind == Kind.Ng || kind == Kind.Factory;
    }

    function N_COINS() external view returns (uint256) {
        return coins.length;
    }

    function A() public view returns (uint256) {
        return amp() / style().unit;
    }

    function isPrecise() private view returns (bool) {
        return kind != Kind.Pancake && kind != Kind.Registry && !isOldest();
    }

    function A_precise() external view only(isPrecise()) returns (uint256) {
        return amp();
    }

    function offpeg_fee_multiplier() external view only(kind == Kind.Ng || kind == Kind.Held) returns (uint256) {
        return offpeg;
    }

    function rates() public view returns (uint256[] memory list) {
        list = RATES;
        for (uint256 k; k < list.length; k++)
            if (lends(k)) list[k] *= lendingRate(k);
            else if (oracles[k]) list[k] = (list[k] * Token(coins[k]).rate()) / 1e18;
        if (kind == Kind.Cached && block.timestamp <= cachedAt + 600) list[1] = base_virtual_price;
        else if (address(base) != address(0)) list[1] = base.get_virtual_price();
    }

    /// The factory of 2021 has a list of a fixed size, and only of pools with an oracle.
    function stored_rates() external view returns (uint256[] memory all_) {
        all_ = rates();
        if (kind == Kind.Ng) return all_;
        require(kind == Kind.Factory && hasOracle);
        assembly {
            return(add(all_, 32), mul(mload(all_), 32))
        }
    }

    function get_virtual_price() external view returns (uint256) {
        return (Curve.findD(scaled(all()), amp(), style()) * 1e18) / supply();
    }

    function base_pool() external view only(kind == Kind.Cached) returns (StablePool) {
        return base;
    }

    /// The meta pools of the registry keep the virtual price of their base pool for ten minutes. Pools of cTokens charge the
    /// interest up to this block.
    function touch() private {
        for (uint256 k; k < coins.length; k++) if (lends(k) && CToken(coins[k]).isCompound()) CToken(coins[k]).accrue();
        if (kind == Kind.Cached && block.timestamp > cachedAt + 600)
            (base_virtual_price, cachedAt) = (base.get_virtual_price(), block.timestamp);
    }

    /// Without the owner's fees. `Held` counts what it holds.
    function balances(uint256 k) external view only(!isOldest()) returns (uint256) {
        return balanceBefore(k, 0);
    }

    function balances(int128 k) external view only(isOldest()) returns (uint256) {
        return stored[uint256(int256(k))];
    }

    /// `value`: native coins that the call brings.
    function balanceBefore(uint256 k, uint256 value) private view returns (uint256) {
        if (kind != Kind.Held) return stored[k];
        uint256 held = coins[k] == NATIVE ? address(this).balance - value : Token(coins[k]).balanceOf(address(this));
        return held - admin_balances[k];
    }

    function all() private view returns (uint256[] memory list) {
        list = new uint256[](coins.length);
        for (uint256 k; k < list.length; k++) list[k] = balanceBefore(k, msg.value);
    }

    function move(uint256 k, uint256 into, uint256 out) private {
        if (kind != Kind.Held) stored[k] = stored[k] + into - out;
    }

    function is_killed() external view only(kind == Kind.Pancake) returns (bool) {
        return killed;
    }

    function decimals() external view only(hasOwnShares()) returns (uint256) {
        return 18;
    }

    function symbol() external view only(hasOwnShares()) returns (string memory) {
        return "LP";
    }

    function approve(address, uint256) external view only(hasOwnShares()) returns (bool) {
        return true;
    }

    /// The tests need no allowances of LP tokens.
    function transferFrom(address from, address to, uint256 amount) public only(hasOwnShares()) returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return transferFrom(msg.sender, to, amount);
    }

    function totalSupply() external view only(hasOwnShares()) returns (uint256) {
        return ownSupply;
    }

    function supply() public view returns (uint256) {
        return hasOwnShares() ? ownSupply : token.totalSupply();
    }

    function amp() public view returns (uint256) {
        if (block.timestamp >= nextTime) return nextA;
        (uint256 passed, uint256 span) = (block.timestamp - firstTime, nextTime - firstTime);
        if (nextA > firstA) return firstA + ((nextA - firstA) * passed) / span;
        return firstA - ((firstA - nextA) * passed) / span;
    }

    function scaled(uint256[] memory raw) private view returns (uint256[] memory xp) {
        return scaledBy(rates(), raw);
    }

    function scaledBy(uint256[] memory all_, uint256[] memory raw) private pure returns (uint256[] memory xp) {
        xp = new uint256[](raw.length);
        for (uint256 k; k < raw.length; k++) xp[k] = (all_[k] * raw[k]) / 1e18;
    }

    function feeOf(uint256 xi, uint256 xj, uint256 base) private view returns (uint256) {
        if (offpeg <= 1e10) return base;
        return (offpeg * base) / (((offpeg - 1e10) * 4 * xi * xj) / (xi + xj) ** 2 + 1e10);
    }

    /// The move with 18 decimals before the fee, and the fee.
    function curveMove(uint256[] memory xp, uint256 i, uint256 j, uint256 dx) private view returns (uint256, uint256) {
        uint256 d = Curve.findD(xp, amp(), style());
        (uint256 before, uint256 x) = (xp[i], xp[i] + dx);
        xp[i] = x;
        uint256 y = Curve.findY(xp, j, amp(), style().unit, d);
        return (xp[j] - y - 1, feeOf((before + x) / 2, (xp[j] + y) / 2, fee));
    }

    function get_dy(uint256 i, uint256 j, uint256 dx) external view returns (uint256) {
        uint256[] memory all_ = rates();
        (uint256 out, uint256 rate) = curveMove(scaledBy(all_, all()), i, j, (dx * all_[i]) / 1e18);
        if (isPrecise()) return ((out - (out * rate) / 1e10) * 1e18) / all_[j];
        out = ((kind == Kind.Fixed ? out + 1 : out) * 1e18) / all_[j];
        return out - (rate * out) / 1e10;
    }

    /// The move of a trade with these balances of 18 decimals, without a fee.
    function scaledOut(uint256 i, uint256 j, uint256 dx, uint256[] memory xp) external view returns (uint256 out) {
        (out, ) = curveMove(xp, i, j, dx);
    }

    function exchange(uint256 i, uint256 j, uint256 dx, uint256) external payable {
        uint256 dy = trade(i, j, dx);
        if (kind == Kind.Pancake) emit TokenExchange(msg.sender, i, dx, j, dy);
        else emit TokenExchange(msg.sender, int128(uint128(i)), dx, int128(uint128(j)), dy);
    }

    function trade(uint256 i, uint256 j, uint256 dx) private returns (uint256 dy) {
        touch();
        dy = swap(i, j, dx, rates());
        take(i, dx);
        give(j, dy, msg.sender);
    }

    function swap(uint256 i, uint256 j, uint256 dx, uint256[] memory all_) private returns (uint256 dy) {
        require(!killed && i != j);
        if (isRounding()) return roundedSwap(i, j, dx, all_);
        (uint256 out, uint256 rate) = curveMove(scaledBy(all_, all()), i, j, (dx * all_[i]) / 1e18);
        uint256 taken = (out * rate) / 1e10;
        dy = ((out - taken) * 1e18) / all_[j];
        move(i, dx, 0);
        book(j, dy, (((taken * admin_fee) / 1e10) * 1e18) / all_[j]);
    }

    function roundedSwap(uint256 i, uint256 j, uint256 dx, uint256[] memory all_) private returns (uint256) {
        uint256[] memory xp = scaledBy(all_, stored);
        uint256 x = xp[i] + (dx * all_[i]) / 1e18;
        uint256 before = xp[j];
        (uint256 out, ) = curveMove(xp, i, j, (dx * all_[i]) / 1e18);
        out += 1;
        uint256 taken = (out * fee) / 1e10;
        stored[i] = (x * 1e18) / all_[i];
        stored[j] = ((before - out + taken - (taken * admin_fee) / 1e10) * 1e18) / all_[j];
        return ((out - taken) * 1e18) / all_[j];
    }

    /// Ids of lent tokens.
    function tradeLent(uint256 i, uint256 j, uint256 dx) private returns (uint256 dy) {
        touch();
        uint256[] memory all_ = rates();
        uint256 redeemed = swap(i, j, lends(i) ? (dx * 1e18) / (all_[i] / RATES[i]) : dx, all_);
        dy = lends(j) ? (redeemed * (all_[j] / RATES[j])) / 1e18 : redeemed;
        (Token from, Token to) = (lentCoin(i), lentCoin(j));
        from.transferFrom(msg.sender, address(this), dx);
        if (lends(i)) {
            if (CToken(coins[i]).isCompound()) CToken(coins[i]).mint(dx);
            else YToken(coins[i]).deposit(dx);
        }
        if (lends(j)) {
            if (CToken(coins[j]).isCompound()) CToken(coins[j]).redeem(redeemed);
            else {
                YToken(coins[j]).withdraw(redeemed);
                dy = to.balanceOf(address(this));
            }
        }
        to.transfer(msg.sender, dy);
    }

    /// Coin 0, or a coin of the base pool. The rates are those before the base pool moves.
    function exchange_underlying(uint256 i, uint256 j, uint256 dx, uint256) external payable {
        if (kind == Kind.Held || isOldest()) {
            uint256 dy = kind == Kind.Held ? trade(i, j, dx) : tradeLent(i, j, dx);
            emit TokenExchangeUnderlying(msg.sender, int128(uint128(i)), dx, int128(uint128(j)), dy);
            return;
        }
        touch();
        uint256[] memory all_ = rates();
        Token coinOut = Token(j == 0 ? coins[0] : base.coins(j - 1));
        Token(i == 0 ? coins[0] : base.coins(i - 1)).transferFrom(msg.sender, address(this), dx);
        uint256 held = coinOut.balanceOf(address(this));
        uint256 bought;
        if (i > 0 && j > 0) base.exchange(i - 1, j - 1, dx, 0);
        else {
            uint256 dy = swap(i == 0 ? 0 : 1, j == 0 ? 0 : 1, i == 0 ? dx : deposit(i - 1, dx), all_);
            if (j > 0) base.remove_liquidity_one_coin(dy, j - 1);
            else bought = dy;
        }
        if (j > 0) bought = coinOut.balanceOf(address(this)) - held;
        coinOut.transfer(msg.sender, bought);
        emit TokenExchangeUnderlying(msg.sender, int128(uint128(i)), dx, int128(uint128(j)), bought);
    }

    function deposit(uint256 k, uint256 amount) private returns (uint256) {
        uint256[] memory amounts = new uint256[](base.N_COINS());
        amounts[k] = amount;
        uint256 held = Token(coins[1]).balanceOf(address(this));
        base.add_liquidity(amounts);
        return Token(coins[1]).balanceOf(address(this)) - held;
    }

    function book(uint256 j, uint256 out, uint256 admin) private {
        move(j, 0, out + admin);
        admin_balances[j] += admin;
    }

    function add_liquidity(uint256[] memory amounts) external payable {
        touch();
        uint256 total = supply();
        uint256[] memory old = all();
        uint256[] memory fresh = all();
        for (uint256 k; k < old.length; k++) {
            require(total > 0 || amounts[k] > 0);
            fresh[k] += amounts[k];
        }
        uint256 d0 = total > 0 ? Curve.findD(scaled(old), amp(), style()) : 0;
        uint256 d1 = Curve.findD(scaled(fresh), amp(), style());
        require(d1 > d0);
        uint256[] memory fees = new uint256[](kind == Kind.Ng && total == 0 ? 0 : old.length);
        (uint256 minted, uint256 named) = (d1, d1);
        if (total > 0) {
            uint256 d2 = charge(old, fresh, fees, d0, d1);
            minted = (total * (d2 - d0)) / d0;
            if (kind == Kind.Ng) named = d2;
        } else stored = fresh;
        for (uint256 k; k < old.length; k++) take(k, amounts[k]);
        mintShares(minted);
        if (kind == Kind.Ng) emit AddLiquidity(msg.sender, amounts, fees, named, total + minted);
        else if (old.length == 2) emit AddLiquidity(msg.sender, two(amounts), two(fees), named, total + minted);
        else if (old.length == 3) emit AddLiquidity(msg.sender, three(amounts), three(fees), named, total + minted);
        else emit AddLiquidity(msg.sender, four(amounts), four(fees), named, total + minted);
    }

    /// Takes the fees of an uneven change of the balances. Returns D after them.
    function charge(
        uint256[] memory old,
        uint256[] memory fresh,
        uint256[] memory fees,
        uint256 d0,
        uint256 d1
    ) private returns (uint256) {
        for (uint256 k; k < old.length; k++) {
            fees[k] = feeFor(k, old[k], fresh[k], d0, d1);
            uint256 admin = (fees[k] * admin_fee) / 1e10;
            stored[k] = fresh[k] - admin;
            admin_balances[k] += admin;
            fresh[k] -= fees[k];
        }
        return Curve.findD(scaled(fresh), amp(), style());
    }

    function feeFor(uint256 k, uint256 old, uint256 fresh, uint256 d0, uint256 d1) private view returns (uint256) {
        uint256 n = coins.length;
        uint256 ideal = (d1 * old) / d0;
        uint256 off = ideal > fresh ? ideal - fresh : fresh - ideal;
        uint256 mean = (rates()[k] * (old + fresh)) / 1e18;
        return (feeOf(mean, (d0 + d1) / n, (fee * n) / (4 * (n - 1))) * off) / 1e10;
    }

    function remove_liquidity(uint256 shares) external {
        uint256 total = supply();
        uint256[] memory amounts = new uint256[](coins.length);
        for (uint256 k; k < amounts.length; k++) {
            amounts[k] = (balanceBefore(k, 0) * shares) / total;
            move(k, 0, amounts[k]);
            give(k, amounts[k], msg.sender);
        }
        burnShares(shares);
        if (kind == Kind.Ng) {
            emit RemoveLiquidity(msg.sender, amounts, new uint256[](0), total - shares);
            withdraw_admin_fees();
        } else {
            uint256[] memory none = new uint256[](amounts.length);
            if (amounts.length == 2) emit RemoveLiquidity(msg.sender, two(amounts), two(none), total - shares);
            else if (amounts.length == 3) emit RemoveLiquidity(msg.sender, three(amounts), three(none), total - shares);
            else emit RemoveLiquidity(msg.sender, four(amounts), four(none), total - shares);
        }
    }

    function remove_liquidity_imbalance(uint256[] memory amounts) external {
        require(!killed);
        touch();
        uint256 total = supply();
        uint256[] memory old = all();
        uint256[] memory fresh = all();
        for (uint256 k; k < old.length; k++) fresh[k] -= amounts[k];
        uint256 d0 = Curve.findD(scaled(old), amp(), style());
        uint256 d1 = Curve.findD(scaled(fresh), amp(), style());
        uint256[] memory fees = new uint256[](old.length);
        uint256 d2 = charge(old, fresh, fees, d0, d1);
        uint256 shares = ((d0 - d2) * total) / d0 + (kind == Kind.Fixed ? 0 : 1);
        burnShares(shares);
        for (uint256 k; k < old.length; k++) if (amounts[k] > 0) give(k, amounts[k], msg.sender);
        emitImbalance(amounts, fees, kind == Kind.Ng ? d2 : d1, total - shares);
    }

    function emitImbalance(uint256[] memory amounts, uint256[] memory fees, uint256 d, uint256 left) private {
        uint256 n = amounts.length;
        if (kind == Kind.Ng) emit RemoveLiquidityImbalance(msg.sender, amounts, fees, d, left);
        else if (n == 2) emit RemoveLiquidityImbalance(msg.sender, two(amounts), two(fees), d, left);
        else if (n == 3) emit RemoveLiquidityImbalance(msg.sender, three(amounts), three(fees), d, left);
        else emit RemoveLiquidityImbalance(msg.sender, four(amounts), four(fees), d, left);
    }

    function remove_liquidity_one_coin(uint256 shares, uint256 i) external only(!isRounding()) {
        require(!killed);
        touch();
        (uint256 dy, uint256 taken) = oneCoin(shares, i);
        book(i, dy, (taken * admin_fee) / 1e10);
        burnShares(shares);
        give(i, dy, msg.sender);
        if (kind == Kind.Ng) emit RemoveLiquidityOne(msg.sender, int128(uint128(i)), shares, dy, supply());
        else if (kind == Kind.Pancake) emit RemoveLiquidityOne(msg.sender, i, shares, dy);
        else if (kind == Kind.Factory || kind == Kind.Cached) emit RemoveLiquidityOne(msg.sender, shares, dy, supply());
        else emit RemoveLiquidityOne(msg.sender, shares, dy);
    }

    function oneCoin(uint256 shares, uint256 i) private view returns (uint256 dy, uint256 taken) {
        uint256[] memory xp = scaled(all());
        uint256 n = xp.length;
        uint256 d0 = Curve.findD(xp, amp(), style());
        uint256 d1 = d0 - (shares * d0) / supply();
        uint256 y = Curve.findY(xp, i, amp(), style().unit, d1);
        uint256 before = xp[i];
        for (uint256 k; k < n; k++) {
            uint256 off = k == i ? (xp[k] * d1) / d0 - y : xp[k] - (xp[k] * d1) / d0;
            uint256 rate = feeOf(k == i ? (xp[k] + y) / 2 : xp[k], (d0 + d1) / (2 * n), (fee * n) / (4 * (n - 1)));
            xp[k] -= (rate * off) / 1e10;
        }
        uint256 unit = rates()[i];
        dy = ((xp[i] - Curve.findY(xp, i, amp(), style().unit, d1) - 1) * 1e18) / unit;
        taken = ((before - y) * 1e18) / unit - dy;
    }

    function mintShares(uint256 shares) private {
        if (!hasOwnShares()) return token.mint(msg.sender, shares);
        ownSupply += shares;
        balanceOf[msg.sender] += shares;
        emit Transfer(address(0), msg.sender, shares);
    }

    function burnShares(uint256 shares) private {
        if (!hasOwnShares()) return token.burn(msg.sender, shares);
        ownSupply -= shares;
        balanceOf[msg.sender] -= shares;
        emit Transfer(msg.sender, address(0), shares);
    }

    function take(uint256 k, uint256 amount) private {
        if (coins[k] == NATIVE) require(msg.value == amount);
        else if (amount > 0) Token(coins[k]).transferFrom(msg.sender, address(this), amount);
    }

    function give(uint256 k, uint256 amount, address to) private {
        if (coins[k] == NATIVE) payable(to).transfer(amount);
        else Token(coins[k]).transfer(to, amount);
    }

    function two(uint256[] memory v) private pure returns (uint256[2] memory) {
        return [v[0], v[1]];
    }

    function three(uint256[] memory v) private pure returns (uint256[3] memory) {
        return [v[0], v[1], v[2]];
    }

    function four(uint256[] memory v) private pure returns (uint256[4] memory) {
        return [v[0], v[1], v[2], v[3]];
    }

    /// `second` is the owner's part of the fee, or the multiplier of the fee off the peg.
    function setFees(uint256 fee_, uint256 second) external {
        fee = fee_;
        if (kind == Kind.Ng) {
            offpeg = second;
            emit ApplyNewFee(fee_, second);
        } else if (kind == Kind.Held) {
            offpeg = second;
            emit NewFee(fee_, admin_fee, second);
        } else if (kind == Kind.Factory) emit ApplyNewFee(fee_);
        else {
            admin_fee = second;
            if (kind == Kind.Fixed) emit NewParameters(nextA, fee_, second);
            else emit NewFee(fee_, second);
        }
    }

    function ramp_A(uint256 next, uint256 seconds_) external {
        (firstA, nextA) = (amp(), next * style().unit);
        if (kind == Kind.Fixed) {
            emit NewParameters(nextA, fee, admin_fee);
            return;
        }
        (firstTime, nextTime) = (block.timestamp, block.timestamp + seconds_);
        emit RampA(firstA, nextA, firstTime, nextTime);
    }

    function stop_ramp() external only(kind != Kind.Fixed) {
        firstA = nextA = amp();
        firstTime = nextTime = block.timestamp;
        emit StopRampA(nextA, block.timestamp);
    }

    function setKilled(bool killed_) external only(kind == Kind.Pancake) {
        killed = killed_;
        if (killed_) emit Kill();
        else emit Unkill();
    }

    function withdraw_admin_fees() public {
        for (uint256 k; k < coins.length; k++) {
            uint256 amount = isOldest() ? Token(coins[k]).balanceOf(address(this)) - stored[k] : admin_balances[k];
            admin_balances[k] = 0;
            if (amount > 0) give(k, amount, feeReceiver);
        }
    }

    function donate_admin_fees() external only(kind == Kind.Pancake) {
        for (uint256 k; k < coins.length; k++) {
            stored[k] += admin_balances[k];
            admin_balances[k] = 0;
        }
        emit DonateAdminFees();
    }
}

contract PoolMaker {
    function make(Plan memory plan) internal returns (StablePool pool) {
        if (plan.oracles.length == 0) plan.oracles = new bool[](plan.coins.length);
        pool = new StablePool(plan);
    }
}

/// Pancake's factory, and that of StableSwap-NG.
contract StableFactory is PoolMaker {
    struct Info {
        address swapContract;
        address token0;
        address token1;
        address token2;
        address LPContract;
    }

    mapping(address => mapping(address => mapping(address => Info))) public stableSwapPairInfo;
    mapping(address => address[]) private coinsOf;
    mapping(address => uint8[]) private typesOf;
    mapping(address => StablePool) public get_base_pool;
    address public latest;

    event NewStableSwapPair(address indexed swapContract, address tokenA, address tokenB, address tokenC, address LP);
    event PlainPoolDeployed(address[] coins, uint256 A, uint256 fee, address deployer);
    event MetaPoolDeployed(address coin, address base_pool, uint256 A, uint256 fee, address deployer);

    /// `coins` in ascending order, two or three.
    function createPair(Plan memory plan) private {
        StablePool pool = make(plan);
        address[] memory coins = plan.coins;
        address third = coins.length == 3 ? coins[2] : address(0);
        latest = address(pool);
        stableSwapPairInfo[coins[0]][coins[1]][third] = Info(latest, coins[0], coins[1], third, address(pool.token()));
        emit NewStableSwapPair(latest, coins[0], coins[1], third, address(pool.token()));
    }

    /// The factory has no asset types of meta pools.
    function deploy(Plan memory plan, uint8[] memory types) external {
        if (plan.kind == Kind.Pancake) return createPair(plan);
        latest = address(make(plan));
        (coinsOf[latest], get_base_pool[latest]) = (plan.coins, plan.base);
        if (address(plan.base) != address(0))
            emit MetaPoolDeployed(plan.coins[0], address(plan.base), plan.A, plan.fee, msg.sender);
        else {
            typesOf[latest] = types;
            emit PlainPoolDeployed(plan.coins, plan.A, plan.fee, msg.sender);
        }
    }

    function get_coins(address pool) external view returns (address[] memory) {
        return coinsOf[pool];
    }

    function get_pool_asset_types(address pool) external view returns (uint8[] memory) {
        return typesOf[pool];
    }
}

/// The factory of 2021 (`isRegistry` is false), or a registry, which adds pools later. Their lists have a fixed size.
contract OldFactory is PoolMaker {
    bool private immutable isRegistry;
    mapping(address => address[]) private coinsOf;
    mapping(address => StablePool) private bases;
    address public latest;

    event PlainPoolDeployed(address[4] coins, uint256 A, uint256 fee, address deployer);
    event MetaPoolDeployed(address coin, address base_pool, uint256 A, uint256 fee, address deployer);
    event PoolAdded(address indexed pool, bytes rate_method_id);

    constructor(bool isRegistry_) {
        isRegistry = isRegistry_;
    }

    function deploy(Plan memory plan, uint8[] memory) external {
        latest = address(make(plan));
        if (isRegistry) return;
        (coinsOf[latest], bases[latest]) = (plan.coins, plan.base);
        address[4] memory coins;
        for (uint256 k; k < plan.coins.length; k++) coins[k] = plan.coins[k];
        if (address(plan.base) == address(0)) emit PlainPoolDeployed(coins, plan.A, plan.fee, msg.sender);
        else emit MetaPoolDeployed(coins[0], address(plan.base), plan.A, plan.fee, msg.sender);
    }

    function add_pool(StablePool pool) external {
        for (uint256 k; k < pool.N_COINS(); k++) coinsOf[address(pool)].push(pool.coins(k));
        emit PoolAdded(address(pool), "");
    }

    function get_base_pool(address pool) external view returns (StablePool) {
        require(!isRegistry);
        return bases[pool];
    }

    function get_lp_token(address pool) external view returns (address) {
        require(isRegistry);
        return coinsOf[pool].length == 0 ? address(0) : address(StablePool(pool).token());
    }

    function get_coins(address pool) external view {
        uint256[] memory list = new uint256[](isRegistry ? 8 : 4);
        for (uint256 k; k < coinsOf[pool].length; k++) list[k] = uint160(coinsOf[pool][k]);
        answer(list);
    }

    function get_decimals(address pool) external view {
        uint256[] memory list = new uint256[](isRegistry ? 8 : 4);
        for (uint256 k; k < coinsOf[pool].length; k++)
            if (k == 0 || address(bases[pool]) == address(0)) list[k] = placesOf(coinsOf[pool][k]);
        answer(list);
    }

    /// No test has a coin that makes another rate count.
    function get_rates(address pool) external view {
        require(isRegistry);
        uint256[] memory list = new uint256[](8);
        for (uint256 k; k < coinsOf[pool].length; k++) list[k] = 1e18;
        answer(list);
    }

    function get_underlying_coins(address pool) public view {
        answer(lentCoins(pool));
    }

    function get_underlying_decimals(address pool) external view {
        uint256[] memory list = lentCoins(pool);
        for (uint256 k; k < list.length; k++) if (list[k] > 0) list[k] = placesOf(address(uint160(list[k])));
        answer(list);
    }

    function lentCoins(address pool) private view returns (uint256[] memory list) {
        require(isRegistry);
        list = new uint256[](8);
        for (uint256 k; k < coinsOf[pool].length; k++) list[k] = uint160(StablePool(pool).underlying_coins(k));
    }

    /// Answers with a list of a fixed size.
    function answer(uint256[] memory list) private pure {
        assembly {
            return(add(list, 32), mul(mload(list), 32))
        }
    }
}

/// Owns the tokens and LP tokens, and calls any contract.
contract Trader {
    function approve(Token token, address spender) external {
        token.approve(spender, type(uint256).max);
    }

    function run(address to, bytes calldata data) external {
        pay(to, 0, data);
    }

    function pay(address to, uint256 value, bytes calldata data) public {
        (bool ok, bytes memory answer) = to.call{value: value}(data);
        require(ok, string(answer));
    }

    receive() external payable {}
}
