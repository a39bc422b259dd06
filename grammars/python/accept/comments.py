# Grüße, 世界 🌍
#  twice

if True:  # why not

    # inside
    x = (  # in parentheses
        1,
        2,
    )

# end
