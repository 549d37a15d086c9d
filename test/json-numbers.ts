import fc from "fast-check";

const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${max}}$`));

const whole = fc.oneof(
  { weight: 2, arbitrary: fc.constant("0") },
  { weight: 3, arbitrary: fc.stringMatching(/^[1-9][0-9]{0,25}$/) },
);
const fraction = fc.oneof(
  fc.constant(""),
  digits(25).map((text) => `.${text}`),
  digits(3).map((text) => `.000000000000000000${text}`),
);
const exponent = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("e", "E"), fc.constantFrom("", "+", "-"), digits(3))
      .map((part) => part.join("")),
  },
);

/** Random numbers in JSON's grammar, with up to 50 digits and exponents of up to three. Some are exact doubles and some are not. */
export const jsonNumberText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        "0.1234567890123456789",
        "4503599627370497.5",
        "1e-400",
        "1e400",
        "-0",
        "-0.0",
        "1E2",
        "100000000000000000000",
      ],
      ...["9007199254740993", "0.1", "0.10000000000000001", "1.0", "5e-324", "1.7976931348623158e308", "-1E-400"],
    ),
  },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)) },
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom("", "-"), whole, fraction, exponent).map((part) => part.join("")) },
);

/** True if two number texts are the same decimal value, with the same sign of zero. */
export function isSameDecimal(a: string, b: string): boolean {
  const [left, right] = [scaled(a), scaled(b)];
  const power = Math.min(left.power, right.power);
  const at = ({ units, power: own }: Scaled) => units * 10n ** BigInt(own - power);
  return at(left) === at(right) && (left.units !== 0n || a.startsWith("-") === b.startsWith("-"));
}

type Scaled = { readonly units: bigint; readonly power: number };

function scaled(text: string): Scaled {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  return { units: BigInt(`${sign}${whole}${fraction}`), power: Number(power) - fraction.length };
}
