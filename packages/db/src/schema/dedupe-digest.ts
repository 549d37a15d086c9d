/**
 * What the index of dedupe keys holds in place of project, trigger and key: the first 16 bytes of their SHA-256. Keys come in no order, so
 * on a large store each post changes another page of the index, which the log holds whole after a checkpoint: an entry of 24 bytes, not
 * of 80 to 280, makes a quarter as many pages. Costs the store one microsecond a key. The backslashes are doubled as bytea reads
 * them; no other cast of a text to its bytes may stand in an index.
 */
export const dedupeDigest = String.raw`(encode(substr(sha256(replace(project_id::text || '/' || trigger_slug || '/' || dedupe_key, '\', '\\')::bytea), 1, 16), 'hex')::uuid)`;
