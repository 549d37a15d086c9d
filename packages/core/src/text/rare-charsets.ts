// In a file of its own, which foreign-text.ts loads when it needs a charset that Node does not know.
export { default } from "iconv-lite";
