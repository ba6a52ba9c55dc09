// Generated from the OpenAPI document by test/contract/generate-types.ts.
export interface paths {
    "/store/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all orders
         * @description All orders placed in the store, sorted by id, in one response. Filtering and paging are not supported; both are planned for v2. Keep the `ETag` and send it back in `If-None-Match`: while the list has not changed, the answer is 304 without a body, but with `X-RateLimit-Degraded` always the whole list. Such a request counts against the limit too.
         */
        get: operations["listOrders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/orders/{orderId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Cancel an order
         * @description Cancels a pending order and removes it from the list. Shipped orders cannot be reversed. If several requests cancel the same order, exactly one of them is answered with 204. After a 503, or without an answer, the order may be cancelled or not: send the request again. A 204 or 404 then says that the list does not have it any more. A browser sends a request again by itself if its connection ends before the answer, so that a 404 can follow the cancel of the same call there.
         */
        delete: operations["cancelOrder"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets/{petId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Look up a pet
         * @deprecated
         * @description Deprecated: do not use it. The service stores no pets, so the answer is 404 until the sunset date and 410 from then on. Every response has the headers `Deprecation` and `Sunset`.
         */
        get: operations["getPet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description An order. An unknown value is an absent member, never null.
         * @example {
         *       "id": 10,
         *       "petId": 4,
         *       "quantity": 2,
         *       "shipDate": "2026-11-24T09:00:00.000Z",
         *       "complete": false
         *     }
         * @example {
         *       "id": 11,
         *       "petId": 27,
         *       "quantity": 1,
         *       "complete": false
         *     }
         */
        Order: {
            /**
             * Format: int64
             * @description Unique order identifier.
             */
            id?: number;
            /**
             * Format: int64
             * @description Identifier of the animal in this order.
             */
            petId?: number;
            /** @description Number of units ordered. */
            quantity?: number;
            /**
             * Format: date-time
             * @description Expected or actual ship date, in UTC.
             */
            shipDate?: string;
            /** @description Whether the order has been fulfilled. */
            complete?: boolean;
        };
        /** @description The body of every error. Programs use `code`; `message` is for people and may change. */
        Error: {
            /**
             * @description Machine-readable error code.
             * @enum {string}
             */
            code: "unauthorized" | "https_required" | "not_found" | "method_not_allowed" | "order_already_shipped" | "order_not_cancellable" | "gone" | "uri_too_long" | "rate_limit_exceeded" | "key_banned" | "internal_error" | "service_unavailable";
            /** @description Human-readable description of the error. */
            message: string;
            /**
             * Format: int32
             * @description The HTTP status code.
             */
            status: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description The limit of the window that is shown, or the per-IP rate limit on a 429 of that. 0 if the key's limits were not applied, so that there is no quota to show: on a 401, 403 or 414, on a 500 or 503 from before that, and with `X-RateLimit-Degraded`.
         * @example 60
         */
        "X-RateLimit-Limit": number;
        /**
         * @description Requests that remain in the window that is shown.
         * @example 59
         */
        "X-RateLimit-Remaining": number;
        /**
         * @description When the window that is shown, or the ban, ends: a Unix timestamp in seconds. On a 429 of the per-IP rate limit, the time until which `Retry-After` waits.
         * @example 1795255260
         */
        "X-RateLimit-Reset": number;
        /**
         * @description Identifies this request. Quote it when you ask for help.
         * @example 8fb8fa07-53c3-4d2f-a4a0-5a7a0e2a5d5b
         */
        "X-Request-Id": string;
        /**
         * @description Both limits: `q` requests in `w` seconds (IETF draft). Absent if the key's limits were not applied.
         * @example "minute";q=60;w=60, "day";q=1000;w=86400
         */
        "RateLimit-Policy": string;
        /**
         * @description Both windows: `r` requests remain, and `t` seconds until the window ends, or during a ban the whole wait (IETF draft). Absent if the key's limits were not applied.
         * @example "minute";r=59;t=42, "day";r=991;t=35262
         */
        RateLimit: string;
        /** @description Only if the service admits requests while the rate limiter cannot be reached: this request may not have been counted. */
        "X-RateLimit-Degraded": "limiter-unreachable";
        /**
         * @description Seconds to wait before the next request. After a 429 for a used-up window or a ban, every earlier request is refused, and then the key has requests left again. Only the operator, other clients of the key, and an unreachable rate limiter can change that. After a 503, or a 429 of the per-IP rate limit, an earlier request may be admitted.
         * @example 17
         */
        "Retry-After": number;
        /**
         * @description The authentication scheme, with `error="invalid_token"` if the request had a credential that was refused.
         * @example Bearer realm="store-orders"
         */
        "WWW-Authenticate": string;
        /**
         * @description The documentation.
         * @example </docs>; rel="service-doc"
         */
        Link: "</docs>; rel=\"service-doc\"";
        /**
         * @description The methods that this path supports.
         * @example GET, HEAD
         */
        Allow: string;
        /**
         * @description Identifies this version of the list. It can start with `W/`, when Cloudflare has compressed the response. Send it back in `If-None-Match`.
         * @example "251-8d2f0b1c9e7a6543"
         */
        ETag: string;
        /**
         * @description When the operation became deprecated: `@` and a Unix timestamp (RFC 9745).
         * @example @1795219200
         */
        Deprecation: "@1795219200";
        /**
         * @description When the operation stops working: an HTTP date (RFC 8594).
         * @example Thu, 05 Dec 2030 00:00:00 GMT
         */
        Sunset: "Thu, 05 Dec 2030 00:00:00 GMT";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listOrders: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the list that you have.
                 * @example "251-8d2f0b1c9e7a6543"
                 */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All orders. */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"][];
                };
            };
            /** @description The list has not changed since the `ETag` in `If-None-Match`. */
            304: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: The API key is missing or invalid. The answer does not say why it is invalid. */
            401: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "unauthorized";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 401;
                    };
                };
            };
            /** @description `https_required`: The request came over plain HTTP, where others can read the key: replace it. The key was not looked at. */
            403: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "https_required";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 403;
                    };
                };
            };
            /** @description `method_not_allowed`: The path does not support this method. `Allow` lists the methods that it supports. */
            405: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    Allow: components["headers"]["Allow"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "method_not_allowed";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 405;
                    };
                };
            };
            /** @description `uri_too_long`: The URL, with its query, is too long. The key was not looked at. */
            414: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "uri_too_long";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 414;
                    };
                };
            };
            /**
             * @description `rate_limit_exceeded`: The limit of a window is used up; the message names the window. Or one IP address sent too many unknown keys.
             *
             *     `key_banned`: The key is temporarily banned. The message says until when.
             */
            429: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "rate_limit_exceeded" | "key_banned";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 429;
                    };
                };
            };
            /** @description `internal_error`: An error in the service. */
            500: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "internal_error";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 500;
                    };
                };
            };
            /** @description `service_unavailable`: The database or the rate limiter cannot be reached at the moment, does not answer in time, or has too many requests waiting for it. */
            503: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "service_unavailable";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 503;
                    };
                };
            };
        };
    };
    cancelOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the order to cancel. If the value is not an int64, the answer is 404.
                 * @example 10
                 */
                orderId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order was pending and is cancelled. */
            204: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: The API key is missing or invalid. The answer does not say why it is invalid. */
            401: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "unauthorized";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 401;
                    };
                };
            };
            /** @description `https_required`: The request came over plain HTTP, where others can read the key: replace it. The key was not looked at. */
            403: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "https_required";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 403;
                    };
                };
            };
            /** @description `not_found`: The order or the path does not exist. */
            404: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "not_found";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 404;
                    };
                };
            };
            /** @description `method_not_allowed`: The path does not support this method. `Allow` lists the methods that it supports. */
            405: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    Allow: components["headers"]["Allow"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "method_not_allowed";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 405;
                    };
                };
            };
            /**
             * @description `order_already_shipped`: The order has shipped.
             *
             *     `order_not_cancellable`: The order is neither pending nor shipped. It is, for example, being processed, or delivered.
             */
            409: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "order_already_shipped" | "order_not_cancellable";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 409;
                    };
                };
            };
            /** @description `uri_too_long`: The URL, with its query, is too long. The key was not looked at. */
            414: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "uri_too_long";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 414;
                    };
                };
            };
            /**
             * @description `rate_limit_exceeded`: The limit of a window is used up; the message names the window. Or one IP address sent too many unknown keys.
             *
             *     `key_banned`: The key is temporarily banned. The message says until when.
             */
            429: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "rate_limit_exceeded" | "key_banned";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 429;
                    };
                };
            };
            /** @description `internal_error`: An error in the service. */
            500: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "internal_error";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 500;
                    };
                };
            };
            /** @description `service_unavailable`: The database or the rate limiter cannot be reached at the moment, does not answer in time, or has too many requests waiting for it. */
            503: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "service_unavailable";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 503;
                    };
                };
            };
        };
    };
    getPet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the pet.
                 * @example 10
                 */
                petId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description `unauthorized`: The API key is missing or invalid. The answer does not say why it is invalid. */
            401: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Link: components["headers"]["Link"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "unauthorized";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 401;
                    };
                };
            };
            /** @description `https_required`: The request came over plain HTTP, where others can read the key: replace it. The key was not looked at. */
            403: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "https_required";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 403;
                    };
                };
            };
            /** @description `not_found`: The order or the path does not exist. */
            404: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    Link: components["headers"]["Link"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "not_found";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 404;
                    };
                };
            };
            /** @description `method_not_allowed`: The path does not support this method. `Allow` lists the methods that it supports. */
            405: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    Allow: components["headers"]["Allow"];
                    Link: components["headers"]["Link"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "method_not_allowed";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 405;
                    };
                };
            };
            /** @description `gone`: The sunset date of the operation has passed. */
            410: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "gone";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 410;
                    };
                };
            };
            /** @description `uri_too_long`: The URL, with its query, is too long. The key was not looked at. */
            414: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "uri_too_long";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 414;
                    };
                };
            };
            /**
             * @description `rate_limit_exceeded`: The limit of a window is used up; the message names the window. Or one IP address sent too many unknown keys.
             *
             *     `key_banned`: The key is temporarily banned. The message says until when.
             */
            429: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "rate_limit_exceeded" | "key_banned";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 429;
                    };
                };
            };
            /** @description `internal_error`: An error in the service. */
            500: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "internal_error";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 500;
                    };
                };
            };
            /** @description `service_unavailable`: The database or the rate limiter cannot be reached at the moment, does not answer in time, or has too many requests waiting for it. */
            503: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    "Retry-After": components["headers"]["Retry-After"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        /** @enum {string} */
                        code?: "service_unavailable";
                        /**
                         * Format: int32
                         * @constant
                         */
                        status?: 503;
                    };
                };
            };
            /** @description Every answer of this operation is an error. */
            default: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Degraded": components["headers"]["X-RateLimit-Degraded"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
