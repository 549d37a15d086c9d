import { expect, test } from "vitest";
import { contrastOf, shadesOf } from "./shades.ts";

const grounds = { light: ["#ffffff", "#f7f8fb", "#eceff4"], dark: ["#12151b", "#171b22", "#1e232c"] };
const steps = ["00", "33", "66", "99", "cc", "ff"];
const colors = steps.flatMap((red) => steps.flatMap((green) => steps.map((blue) => `#${red}${green}${blue}`)));

test.each(["light", "dark"] as const)(
  "every text in a shade of any color has the contrast of WCAG AA: %s",
  (scheme) => {
    const weak = colors.flatMap((color) => {
      const { accent, onAccent, accentGround } = shadesOf(color, scheme);
      const pairs = [...grounds[scheme].map((ground) => [accent, ground]), [accent, accentGround], [onAccent, accent]];
      return pairs.filter(([text = "", ground = ""]) => contrastOf(text, ground) < 4.5).map((pair) => [color, ...pair]);
    });
    expect(weak).toEqual([]);
  },
);

test("a color that is dark enough stays as it is, and a light one becomes darker on a light page alone", () => {
  expect(shadesOf("#1a3fb0", "light").accent).toBe("#1a3fb0");
  expect(shadesOf("#ffd000", "dark").accent).toBe("#ffd000");
  expect(shadesOf("#ffd000", "light").accent).not.toBe("#ffd000");
});

test("the contrast of black and white is 21", () => {
  expect(contrastOf("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrastOf("#777777", "#ffffff")).toBeCloseTo(4.48, 1);
});
