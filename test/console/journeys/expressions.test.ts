import { expect } from "vitest";
import { findBarriers } from "../axe.ts";
import { browserTest, startConsole } from "../browser.ts";

const consoles = startConsole();

browserTest("the field of an expression completes names, functions and operators by keyboard", async () => {
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/programs/new` });
  const card = page.getByRole("region", { name: "Step large" });
  const field = card.getByRole("combobox", { name: "Keep if" });
  await field.fill("");
  // "value" is the field that the tool's answer has for each row of the step before.
  await field.pressSequentially("row.v");
  const list = card.getByRole("listbox", { name: "Completions of Keep if" });
  await list.getByRole("option", { name: "row.value number" }).waitFor();
  expect(await field.getAttribute("aria-expanded")).toBe("true");
  const active = await field.getAttribute("aria-activedescendant");
  expect(await page.locator(`[id="${active}"]`).getAttribute("aria-selected")).toBe("true");
  expect(await findBarriers(page)).toEqual([]);
  await page.keyboard.press("Enter");
  expect(await field.inputValue()).toBe("row.value");
  await list.waitFor({ state: "hidden" });

  await page.keyboard.type(" >= params.m");
  await page.keyboard.press("Tab");
  expect(await field.inputValue()).toBe("row.value >= params.minValue");
  await page.keyboard.type(" && row.title.start");
  await list.getByRole("option", { name: /^startsWith .*string.startsWith\(string\): bool True if/ }).waitFor();
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "hidden" });
  await page.keyboard.press("Control+Space");
  await page.keyboard.press("Enter");
  expect(await field.inputValue()).toBe("row.value >= params.minValue && row.title.startsWith(");
  await page.keyboard.type('"A") ');
  await page.keyboard.press("Control+Space");
  await list.getByRole("option", { name: /^\|\| / }).click();
  expect(await field.inputValue()).toMatch(/startsWith\("A"\) \|\| $/);
  expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("combobox");
});
