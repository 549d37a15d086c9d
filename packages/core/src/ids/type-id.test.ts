import fc from "fast-check";
import { fromUUID, toUUID } from "typeid-js";
import { stringify } from "uuid";
import { expect, test } from "vitest";
import { readTypeId, readUuid, typeIdOfBytes, uuidOfBytes } from "./type-id.ts";

const sixteen = fc.uint8Array({ minLength: 16, maxLength: 16 });

test("texts and bytes are those of the libraries, both ways", () => {
  fc.assert(
    fc.property(sixteen, (bytes) => {
      const uuid = stringify(bytes.with(6, 0x70).with(8, 0x80));
      const id = String(fromUUID(uuid, "evt"));
      const own = readUuid(uuid, new Uint8Array(16));
      expect(uuidOfBytes(own)).toBe(uuid);
      expect(typeIdOfBytes("evt", own)).toBe(id);
      expect(readTypeId(id, new Uint8Array(16))).toEqual(own);
      expect(uuidOfBytes(own)).toBe(toUUID(id as never));
    }),
  );
});

test("every bit has its place", () => {
  fc.assert(
    fc.property(sixteen, (bytes) => {
      expect(readTypeId(typeIdOfBytes("node", bytes), new Uint8Array(16))).toEqual(bytes);
      expect(readUuid(uuidOfBytes(bytes), new Uint8Array(16))).toEqual(bytes);
      expect(readUuid(uuidOfBytes(bytes).toUpperCase(), new Uint8Array(16))).toEqual(bytes);
    }),
  );
});
