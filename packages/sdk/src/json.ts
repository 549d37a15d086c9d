import { type DescMessage, isMessage, type Message, toJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

/**
 * Adds a hidden `toJSON` to a message and to every message inside it. JSON.stringify then writes the message as the service does: times
 * such as "2026-01-31T09:30:00Z", and 64-bit numbers as texts. Without it, JSON.stringify would throw for a BigInt.
 */
export function addToJson(desc: DescMessage, message: Message): void {
  Object.defineProperty(message, "toJSON", {
    value: () => toJson(desc, message, { alwaysEmitImplicit: true }),
    configurable: true,
    writable: true,
  });
  const reflected = reflect(desc, message);
  for (const field of desc.fields) {
    if (field.message === undefined || !reflected.isSet(field)) continue;
    const value = (message as unknown as Record<string, unknown>)[field.localName];
    for (const inner of field.fieldKind === "message" ? [value] : Object.values(value as object)) {
      if (isMessage(inner, field.message)) addToJson(field.message, inner);
    }
  }
}
