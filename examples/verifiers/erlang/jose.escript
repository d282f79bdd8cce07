#!/usr/bin/env escript
%% Service B with jose and a JSON library that it knows (here jiffy). It checks the signature alone.
-mode(compile).

%% The values of SIGNING_ALG that you have used. As strings they would match nothing.
-define(ALGORITHMS, [<<"ES256">>, <<"ES384">>, <<"EdDSA">>, <<"PS256">>, <<"RS256">>]).

main(_) ->
    {ok, _} = application:ensure_all_started(jose),
    {ok, _} = application:ensure_all_started(inets),
    {ok, _} = application:ensure_all_started(ssl),
    Keys = spawn_link(fun() -> keep_keys(#{}, now_in_seconds() - 601) end),
    Port = list_to_integer(os:getenv("PORT", "4000")),
    {ok, Listener} = gen_tcp:listen(Port, [binary, {packet, http_bin}, {active, false}, {ip, loopback}]),
    {ok, Listening} = inet:port(Listener),
    io:format("Service B listens on port ~b.~n", [Listening]),
    accept(Listener, Keys).

%% Checks an access token (RFC 9068, section 4) and returns its claims. Raises an error unless it is good.
check(Token, Keys) ->
    #{<<"kid">> := Kid, <<"typ">> := <<"at+jwt">>} = jose:decode(jose_jws:peek_protected(Token)),
    Key = jose_jwk:from_map(find_key(Keys, Kid)),
    {true, {jose_jwt, Claims}, _} = jose_jwt:verify_strict(Key, ?ALGORITHMS, Token),
    Issuer = environment("ISSUER"),
    Api = environment("API"),
    #{<<"iss">> := Issuer, <<"aud">> := Audience, <<"exp">> := Expiry, <<"sub">> := _, <<"client_id">> := _} = Claims,
    %% Your API's own indicator, alone or in a list: a token for another API is not for us.
    true = Audience =:= Api orelse (is_list(Audience) andalso lists:member(Api, Audience)),
    true = is_number(Expiry) andalso Expiry > erlang:system_time(second),
    Claims.

environment(Name) -> list_to_binary(os:getenv(Name)).

find_key(Keys, Kid) ->
    Keys ! {find, Kid, self()},
    receive {key, Kid, Key} -> Key end.

%% The keys by their `kid`. They are fetched again for an unknown `kid`, at most every 5 seconds, and every 10 minutes, so
%% that a deleted key is forgotten.
keep_keys(Known, FetchedAt) ->
    receive
        {find, Kid, Asker} ->
            Age = now_in_seconds() - FetchedAt,
            IsDue = Age > 600 orelse (not is_map_key(Kid, Known) andalso Age > 5),
            {Keys, At} = if IsDue -> {fetch(Known), now_in_seconds()}; true -> {Known, FetchedAt} end,
            Asker ! {key, Kid, maps:get(Kid, Keys, unknown)},
            keep_keys(Keys, At)
    end.

fetch(Known) ->
    try
        Url = os:getenv("ISSUER") ++ "/jwks",
        {ok, {{_, 200, _}, _, Body}} = httpc:request(get, {Url, []}, [{timeout, 5000}], [{body_format, binary}]),
        #{<<"keys">> := Keys} = jose:decode(Body),
        maps:from_list([{Kid, Key} || Key = #{<<"kid">> := Kid} <- Keys])
    catch
        _:Reason ->
            io:format(standard_error, "The keys cannot be fetched; those of before stay: ~p~n", [Reason]),
            Known
    end.

now_in_seconds() -> erlang:monotonic_time(second).

accept(Listener, Keys) ->
    {ok, Socket} = gen_tcp:accept(Listener),
    Server = spawn(fun() -> receive begin_now -> serve(Socket, Keys, <<>>) end end),
    ok = gen_tcp:controlling_process(Socket, Server),
    Server ! begin_now,
    accept(Listener, Keys).

%% Reads one request, and answers it.
serve(Socket, Keys, Token) ->
    case gen_tcp:recv(Socket, 0, 5000) of
        {ok, {http_header, _, 'Authorization', _, <<"Bearer ", Found/binary>>}} -> serve(Socket, Keys, Found);
        {ok, http_eoh} -> gen_tcp:send(Socket, answer(Token, Keys)), gen_tcp:close(Socket);
        {ok, _} -> serve(Socket, Keys, Token);
        {error, _} -> gen_tcp:close(Socket)
    end.

answer(Token, Keys) ->
    try check(Token, Keys) of
        #{<<"scope">> := Held, <<"sub">> := User} ->
            case lists:member(environment("SCOPE"), binary:split(Held, <<" ">>, [global])) of
                true -> response("200 OK", jose:encode(#{user => User}));
                false -> response("403 Forbidden", <<>>)
            end;
        _ -> response("403 Forbidden", <<>>)
    catch
        _:_ -> response("401 Unauthorized", <<>>)
    end.

response(Status, Body) ->
    io_lib:format("HTTP/1.1 ~s\r\nConnection: close\r\nContent-Length: ~b\r\n\r\n~s", [Status, byte_size(Body), Body]).
