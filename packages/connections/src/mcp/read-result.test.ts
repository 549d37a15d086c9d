import { expect, test } from "vitest";
import { answerOf } from "./read-result.ts";

const resultOf = (text: string) =>
  answerOf({ value: { id: 1, result: { content: [{ type: "text", text }] } }, text: "" }, "read");

test("a text of more than 1 MiB is not also passed on as data", () => {
  const listOf = (length: number) => `["${"x".repeat(length - 4)}"]`;
  const bodyOf = (text: string) => {
    const answer = resultOf(text);
    return answer.kind === "answer" ? (JSON.parse(String(answer.body)) as { result: object }).result : answer;
  };
  expect(Object.keys(bodyOf(listOf(1_048_576)))).toEqual(["text", "data"]);
  expect(Object.keys(bodyOf(listOf(1_048_577)))).toEqual(["text"]);
});

const png = Buffer.from("89504e470d0a1a0a00", "hex");
const imagesOf = (content: object[]) => {
  const answer = answerOf({ value: { id: 1, result: { content } }, text: "" }, "read");
  return answer.kind === "answer" ? { images: answer.images, warnings: answer.warnings } : answer;
};
const image = (bytes: number, mimeType = "image/png") => {
  const data = Buffer.concat([png, Buffer.alloc(bytes - png.length)]).toString("base64");
  return { type: "image", mimeType, data };
};

test("images of up to 256 KiB together are passed on, and what does not fit is named", () => {
  const fits = image(262_144);
  expect(imagesOf([fits])).toEqual({
    images: [{ mimeType: "image/png", data: fits.data, bytes: 262_144 }],
    warnings: undefined,
  });
  expect(imagesOf([image(200_000), image(62_145), image(9)])).toMatchObject({
    images: [{ bytes: 200_000 }, { bytes: 9 }],
    warnings: ["left_out: the data of 1 part is not in the result: image/png (62145 bytes)"],
  });
});

test.each([
  ["of another type than it says", image(9, "image/jpeg")],
  ["of a type that can hold scripts", image(9, "image/svg+xml")],
  ["that is not base64", { ...image(9), data: `${image(9).data.slice(0, -1)}!` }],
  ["whose type is a name of Object", image(9, "constructor")],
])("data %s is not passed on as an image", (_what, part) => {
  expect(imagesOf([part])).toEqual({
    images: undefined,
    warnings: [expect.stringMatching(/^left_out: the data of 1 part is not in the result: image/)],
  });
});

test("parts after the first 100 are counted as left out, also those without data", () => {
  const links = Array.from({ length: 101 }, () => ({ type: "resource_link", uri: "https://example.com/a" }));
  expect(imagesOf([{ type: "text", text: "see" }, ...links.slice(1)])).toEqual({
    images: undefined,
    warnings: undefined,
  });
  expect(imagesOf([...links, image(9)])).toEqual({
    images: undefined,
    warnings: ["left_out: the data of 2 parts is not in the result: unknown, image/png (9 bytes)"],
  });
});

test("base64 of 8 MiB of padding is measured at once", () => {
  const { images } = imagesOf([
    { type: "image", mimeType: "image/png", data: `${"=".repeat(8_000_000)}x` },
  ]) as object & {
    images?: unknown;
  };
  expect(images).toBeUndefined();
});

test("a result that is larger than 8 MiB as JSON is too large", () => {
  expect(resultOf("x".repeat(4_000_000))).toMatchObject({ kind: "answer" });
  expect(resultOf('"'.repeat(5_000_000))).toEqual({ kind: "too_large", status: 200 });
});
