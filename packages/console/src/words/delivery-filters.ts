/**
 * The values of the filter in the list of deliveries. `failed`: deliveries that need attention, because an attempt failed. This file has
 * nothing else, because the console loads it at its start to read addresses.
 */
export const deliveryFilters = ["failed", "pending", "retrying", "delivered", "dead_letter"] as const;

/** A value of the filter of deliveries. */
export type DeliveryTab = (typeof deliveryFilters)[number];
