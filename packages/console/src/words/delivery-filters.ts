/**
 * The values of the filter of deliveries. `failed`: deliveries that need attention, because an attempt failed. They are in a file of their
 * own, because the console reads addresses before it loads its pages.
 */
export const deliveryFilters = ["failed", "pending", "retrying", "delivered", "dead_letter"] as const;

/** A value of the filter of deliveries. */
export type DeliveryTab = (typeof deliveryFilters)[number];
