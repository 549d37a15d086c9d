/** What clients of this era call the protocol they speak, the latest first. The service is the same in each of them. */
export const versions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
